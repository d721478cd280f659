"""Parse the channels of the columns of a file, as people write them.

    coin_flip                         a = 3/4, b = 1/4
    warner 0.7                        the question with probability .7, otherwise its opposite
    forced_response yes=1/6 no=1/12   a forced yes, a forced no, otherwise the truth
    unrelated_question 2/3 1/4        the question with probability 2/3, otherwise one that 1/4 answer with yes
    crosswise 1/4 same=A              the value A says that the answer equals that to a question with 1/4 yes
    crosswise 1/4 se=1/100 fact=f     the 1/4, or an unrelated question's share, has a standard error; columns with
                                      one name of a fact share this error, others have their own
    binary_rr a=3/4 b=1/4             P(yes | yes) and P(yes | no)
    kary_rr odds=3 k=4                the true one of 4 options with odds of 3 to 1 against each other one
    joint_rr odds=9 radius=0 k=2,2 with=a,b  two columns, a and b, that were randomized together
    geometric ratio=1/3 min=0 max=60  a number with noise; all other mechanisms likewise, as ``channel_text`` has them
    public                            asked openly
    number                            asked openly, a number also where it has few values

``levels=never,once,often`` names the true options in their order; of two, the second is "yes". A matrix is a list of
rows P(report | truth), one for each level, or ``{matrix: rows, levels: [...], reports: [...]}``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sottovoce.aggregator.analysis.data_file.column_channel import PAIRS, SAME, ColumnChannel, JoinedColumns, kary_rows
from sottovoce.aggregator.estimators.matrix import MatrixChannel
from sottovoce.shared.channel_text import ChannelWords, channel_question, read_block, read_number, split_channel
from sottovoce.shared.errors import Sentence
from sottovoce.shared.mechanisms import MECHANISMS
from sottovoce.shared.mechanisms.innocuous_rr import CROSSWISE, UNRELATED, InnocuousRR, channel

OF_MIXTURES = {
    "unrelated_unknown", "cheater_detection", "cheater_detection_symmetric", "lie_detector", "mangat", "kuk",
    "stochastic_lie_detector", "cheating_detection", "unknown_unrelated_question",
}  # fmt: skip
"""Designs of two samples or several draws, and other names of them."""
UNKNOWN_SHARE = (
    "is a design with an unknown share, which has a form of its own (results mixture --design); here the "
    "probabilities of a single report must be known"
)
FAR_ERROR = (
    "shares two standard errors from share must lie between 0 and 1, in the crosswise design on one side of 1/2: give "
    "a smaller se"
)
MISSING_K = "say how many options there are: k=4, or levels=never,once,sometimes,often"

ReadWords = Callable[[ChannelWords, tuple[str, ...]], ColumnChannel]


def parse_channel(given: Any) -> ColumnChannel:  # noqa: ANN401 - text, rows, or a map
    """Parse text, rows of a matrix, or a map of ``matrix`` (or ``channel``), ``levels`` and ``reports``.

    Raises ValueError, whose message says why, if it is no channel.
    """
    if isinstance(given, ColumnChannel):
        return given
    if isinstance(given, str):
        return _from_text(given)
    if isinstance(given, Mapping):
        return _from_map(given)
    if isinstance(given, Sequence):
        return _from_map({"matrix": given})
    raise ValueError("a channel is text such as coin_flip, or the rows of a matrix")


def yes_no_counts(given: str, yes: int, n: int) -> dict[str, int]:
    """Return counts by value of ``n`` reports, ``yes`` of which say yes; in the crosswise design, "same"."""
    one, other = SAME[0] if given.split()[:1] == ["crosswise"] else PAIRS[0]
    return {one: n - yes, other: yes}


def _from_text(text: str) -> ColumnChannel:
    words = split_channel(text)
    levels = words.pop_levels()
    if words.name in OF_MIXTURES:
        raise ValueError(UNKNOWN_SHARE)
    if words.name not in _DESIGNS:
        raise ValueError(Sentence("is no channel; there are: {names}", names=", ".join(_DESIGNS)))
    return _DESIGNS[words.name](words, levels)


def _from_map(given: Mapping[str, Any]) -> ColumnChannel:
    unknown = set(given) - {"matrix", "channel", "levels", "reports"}
    if unknown or ("matrix" in given) == ("channel" in given):
        raise ValueError("a channel is a map of matrix or channel, and of levels and reports")
    levels, values = (_unique(tuple(map(str, given.get(key) or ()))) for key in ("levels", "reports"))
    if "channel" in given:
        made = _from_text(str(given["channel"]))
        return replace(made, levels=levels or made.levels, values=values)
    rows = given["matrix"]
    if not isinstance(rows, Sequence) or not all(
        isinstance(row, Sequence) and not isinstance(row, str) for row in rows
    ):
        raise ValueError("a matrix is a list of rows, each a list of probabilities")
    numbers = tuple(tuple(read_number(str(cell), f"row {place}") for cell in row) for place, row in enumerate(rows, 1))
    return ColumnChannel("matrix", MatrixChannel(numbers).rows, levels=levels, values=values)


def _unique(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError("two levels have one name")
    return names


def _shares(words: ChannelWords, *names: str) -> list[Fraction]:
    """Return the numbers of these names, each from 0 to 1."""
    numbers = words.numbers(*names)
    for name in names:
        if not 0 <= numbers[name] <= 1:
            raise ValueError(Sentence("{name} must be between 0 and 1", name=name))
    return [numbers[name] for name in names]


def _yes_no(name: str, a: Fraction, b: Fraction, levels: tuple[str, ...]) -> ColumnChannel:
    rows = MatrixChannel.yes_no(a, b).rows
    if levels and len(levels) != 2:
        raise ValueError("this channel has two levels: levels=NO,YES")
    return ColumnChannel(name, rows, levels=levels)


def _plain(odds: Callable[..., tuple[Fraction, Fraction]], *names: str) -> ReadWords:
    """Return a reader of a yes/no channel whose P(yes | yes) and P(yes | no) follow from the numbers of these names."""
    return lambda words, levels: _yes_no(words.name, *odds(*_shares(words, *names)), levels)


def _forced_response(words: ChannelWords, levels: tuple[str, ...]) -> ColumnChannel:
    *truth, yes, no = _shares(words, *(("truth",) if "truth" in words.named else ()), "yes", "no")
    if yes + no >= 1:
        raise ValueError("yes and no must sum to less than 1: the rest answers truthfully")
    if truth and sum(truth) + yes + no != 1:
        raise ValueError("truth, yes and no must sum to 1")
    return _yes_no("forced_response", 1 - no, yes, levels)


def _unrelated_question(words: ChannelWords, levels: tuple[str, ...]) -> ColumnChannel:
    error, fact = _error(words)
    truth, share = _shares(words, "truth", "share")
    made = _yes_no("unrelated_question", truth + (1 - truth) * share, (1 - truth) * share, levels)
    return replace(made, by_fact=_by_fact(UNRELATED, share, error, truth, fact) if error else None)


def _crosswise(words: ChannelWords, levels: tuple[str, ...]) -> ColumnChannel:
    same = words.named.pop("same", "")
    error, fact = _error(words)
    [share] = _shares(words, "share")
    made = _yes_no("crosswise", share, 1 - share, levels)
    by_fact = _by_fact(CROSSWISE, share, error, Fraction(1), fact) if error else None
    return ColumnChannel("crosswise", made.rows, same, levels, by_fact=by_fact)


def _error(words: ChannelWords) -> tuple[Fraction, str]:
    """Remove and return the standard error of an innocuous share, 0 for none, and the name of the fact."""
    error, fact = words.named.pop("se", "0"), words.named.pop("fact", "")
    return read_number(error, "se"), fact


def _by_fact(procedure: str, share: Fraction, error: Fraction, truth: Fraction, fact: str) -> InnocuousRR:
    low, high = share - 2 * error, share + 2 * error
    if error < 0 or not 0 < low <= high < 1 or (procedure == CROSSWISE and low <= Fraction(1, 2) <= high):
        raise ValueError(FAR_ERROR)
    return InnocuousRR(*channel(procedure, share, truth), procedure, share, error, truth, fact=fact)


def _kary_rr(words: ChannelWords, levels: tuple[str, ...]) -> ColumnChannel:
    size = words.named.pop("k", "")
    odds = words.numbers("odds")["odds"]
    if not (levels or size.isdecimal()):
        raise ValueError(MISSING_K)
    count = int(size[:4]) if size.isdecimal() else len(levels)
    if levels and count != len(levels):
        raise ValueError("k and levels must name as many options")
    if odds <= 1:
        raise ValueError("odds must be above 1")
    MatrixChannel(kary_rows(odds, range(count)))
    return ColumnChannel("kary_rr", levels=levels, odds=odds, size=count)


def _of_mechanism(words: ChannelWords, levels: tuple[str, ...]) -> ColumnChannel:
    return ColumnChannel(words.name, asked=channel_question(words, levels))


def _public(words: ChannelWords, levels: tuple[str, ...]) -> ColumnChannel:
    words.numbers()
    return ColumnChannel("public", levels=levels)


def _number_column(words: ChannelWords, levels: tuple[str, ...]) -> ColumnChannel:
    words.numbers()
    if levels:
        raise ValueError("a number has no levels")
    return ColumnChannel("number")


def _joint_rr(words: ChannelWords, levels: tuple[str, ...]) -> ColumnChannel:
    return ColumnChannel("joint_rr", levels=levels, block=JoinedColumns(*read_block(words)))


_DESIGNS: dict[str, ReadWords] = {
    "coin_flip": _plain(lambda: (Fraction(3, 4), Fraction(1, 4))),
    "warner": _plain(lambda truth: (truth, 1 - truth), "truth"),
    "forced_response": _forced_response,
    "unrelated_question": _unrelated_question,
    "crosswise": _crosswise,
    "binary_rr": _plain(lambda a, b: (a, b), "a", "b"),
    "kary_rr": _kary_rr,
    "joint_rr": _joint_rr,
    **{name: _of_mechanism for name in MECHANISMS if name not in {"binary_rr", "kary_rr", "memoized_rr", "joint_rr"}},
    "public": _public,
    "number": _number_column,
}
DESIGNS = tuple(_DESIGNS)
"""Names of the channels."""
