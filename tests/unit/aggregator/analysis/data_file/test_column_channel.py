"""Channels as people write them."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from sottovoce.aggregator import estimate, open_data
from sottovoce.aggregator.analysis.data_file.column_channel import UnknownValue
from sottovoce.aggregator.analysis.data_file.parse_channel import parse_channel
from sottovoce.aggregator.analysis.data_file.randomize import randomize
from sottovoce.aggregator.analysis.mixtures.designs import DESIGNS
from sottovoce.shared.channel_text import dump_block
from sottovoce.shared.errors import AnswerError, SpecError
from sottovoce.shared.mechanisms.joint_rr import JointRR

from tests.blocks import reports


@pytest.mark.parametrize(
    ("text", "a", "b"),
    [
        ("coin_flip", "3/4", "1/4"),
        ("warner 0.7", "7/10", "3/10"),
        ("warner truth=7/10", "7/10", "3/10"),
        ("forced_response yes=1/6 no=1/12", "11/12", "1/6"),
        ("forced_response truth=3/4 yes=1/6 no=1/12", "11/12", "1/6"),
        ("unrelated_question 2/3 1/4", "3/4", "1/12"),
        ("binary_rr a=1 b=1/3", "1", "1/3"),
        ("crosswise 1/4 same=A", "1/4", "3/4"),
        ("crosswise 1/4 se=1/50 same=A", "1/4", "3/4"),
        ("unrelated_question 2/3 1/4 se=1/50 fact=born", "3/4", "1/12"),
    ],
)
def test_designs_have_their_channel(text: str, a: str, b: str) -> None:
    """P(report yes | yes) and P(report yes | no); of the crosswise design, of "same"."""
    rows = parse_channel(text).rows
    assert rows == ((1 - Fraction(b), Fraction(b)), (1 - Fraction(a), Fraction(a)))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("coin flip", "is no channel"),
        ("", "is no channel"),
        ("stochastic_lie_detector 0.7", "is a design with an unknown share"),
        ("cheater_detection yes=1/6", "probabilities of a single report must be known"),
        *((name, "is a design with an unknown share") for name in DESIGNS),
        ("coin_flip 3", "parameters: none"),
        ("warner", "parameters: truth"),
        ("warner 0.7 0.3", "parameters: truth"),
        ("warner 7/0", "must be a number"),
        ("warner 1e9", "must be a number"),
        ("warner 1.2", "between 0 and 1"),
        ("warner 0.5", "singular"),
        ("binary_rr a=1/4 a=1/4", "given twice"),
        ("forced_response yes=1/2 no=1/2", "less than 1"),
        ("forced_response truth=1/2 yes=1/6 no=1/12", "sum to 1"),
        ("kary_rr 3", "how many options"),
        ("kary_rr 1 k=3", "above 1"),
        ("kary_rr 3 k=2 levels=a,b,c", "as many"),
        ("kary_rr 3 k=1", "2 to 100"),
        ("crosswise 0.4 se=1/20", "on one side of 1/2"),
        ("unrelated_question 2/3 1/4 se=1/8", "between 0 and 1"),
        ("crosswise 1/4 se=-1/50", "smaller se"),
        ("coin_flip levels=a,b,c", "two levels"),
        ("coin_flip levels=a,a", "one name"),
        ([[0.5, 0.5], [0.2, 0.7]], "row 2 of the matrix sums to 0.9"),
        ({"levels": ["a"]}, "map of matrix or channel"),
        (3, "text such as"),
        ("joint_rr odds=9 radius=0 k=2,2", "has the parameters"),
        ("joint_rr odds=9 radius=0 k=2,2 with=a", "as many different columns"),
        ("joint_rr odds=9 radius=0 k=2,2 with=a,a", "as many different columns"),
        ("joint_rr odds=1 radius=0 k=2,2 with=a,b", "odds must be above 1"),
    ],
)
def test_no_channel_is_refused(given: object, reason: str) -> None:
    """The message says what is wrong with it."""
    with pytest.raises(ValueError, match=reason):
        parse_channel(given)


def test_values_are_recognized_as_the_file_writes_them() -> None:
    """Capital letters, languages, digits, and values that are not there."""
    for found, options in ((["Yes", "No"], ("No", "Yes")), (["ja"], ("nein", "ja")), (["1", "0"], ("0", "1"))):
        assert parse_channel("coin_flip").read(found).options == options
    for found in (["yes", "YES"], ["yes", "perhaps"]):
        with pytest.raises(ValueError, match="levels=NO,YES"):
            parse_channel("coin_flip").read(found)


def test_crosswise_needs_to_know_which_value_means_same() -> None:
    """1 and 0 do not say it, and a guess would turn the share around."""
    with pytest.raises(ValueError, match="same=VALUE"):
        parse_channel("crosswise 1/4").read(["0", "1"])
    assert parse_channel("crosswise 1/4 same=1").read(["1", "0"]).reports == {"0": 0, "1": 1}
    assert parse_channel("crosswise 1/4").read(["Same", "different"]).reports == {"different": 0, "Same": 1}


def test_options_that_nobody_reported_still_count() -> None:
    """The channel of four options is not the channel of the three that are in the file."""
    reading = parse_channel("kary_rr 3 k=4").read(["2", "10", "1"])
    assert reading.options == ("1", "2", "10", "(not reported 1)")
    assert reading.channel.rows[0] == (Fraction(1, 2), *[Fraction(1, 6)] * 3)
    with pytest.raises(UnknownValue) as raised:
        parse_channel("kary_rr 3 k=2").read(["a", "b", "c"])
    assert raised.value.value == "c"


def test_matrix_without_levels_reads_no_and_yes() -> None:
    """Its rows alone are a channel where the column's values say which is which."""
    channel = parse_channel([["3/4", "1/4"], ["1/4", "3/4"]])
    assert channel.read(["yes", "no"]).options == ("no", "yes")


def test_matrix_has_more_reports_than_truths() -> None:
    """Truths and reports have names of their own."""
    given = {"matrix": [["0.5", "0.3", "0.2"], [0, "0.2", "0.8"]], "levels": ["no", "yes"], "reports": ["a", "b", "c"]}
    reading = parse_channel(given).read(["c", "a"])
    assert (reading.options, reading.reports) == (("no", "yes"), {"a": 0, "b": 1, "c": 2})


def bytes_in_turn(numbers: range) -> "object":
    """A source that gives these bytes, one a call."""
    left = iter(numbers)
    return lambda count: bytes(next(left) for _ in range(count))


def test_reports_are_drawn_with_the_channel_s_probabilities() -> None:
    """Over all bytes alike: 3 in 4 under the coin flip."""
    read = bytes_in_turn(range(256))
    drawn = [randomize("coin_flip", True, read) for _ in range(256)]  # type: ignore[arg-type]
    assert (drawn.count("yes"), drawn.count("no")) == (192, 64)
    assert randomize("kary_rr 3 levels=never,once,often", "once") in {"never", "once", "often"}


@pytest.mark.parametrize(
    ("channel", "answer", "error", "told"),
    [
        ("coin_flip", "perhaps", AnswerError, r"none of: no, yes$"),
        ("kary_rr 3 k=4", "once", SpecError, "levels"),
        ("joint_rr odds=9 radius=0 k=2,2 with=a,b", "yes", SpecError, "drawn together"),
    ],
)
def test_answer_that_cannot_be_randomized_is_refused(
    channel: str, answer: str, error: type[Exception], told: str
) -> None:
    """One that is none, whose message names the levels and does not repeat it; one of a block alone."""
    with pytest.raises(error, match=told):
        randomize(channel, answer)


def test_columns_of_one_block_are_analysed_together_from_their_channel_alone(tmp_path: Path) -> None:
    """The columns beside the answers name the block; shares and table are near the truth."""
    mechanism, rng = JointRR(Fraction(9), 0, (2, 3)), np.random.default_rng(3)
    truth = np.array([[0.3, 0.2, 0.1], [0.05, 0.15, 0.2]])
    both = rng.choice(6, 20_000, p=truth.ravel())
    drawn = reports(mechanism, np.stack([both // 3, both % 3], 1), rng)
    text = dump_block(mechanism, ["smokes", "often"])
    assert text == "joint_rr odds=9 radius=0 k=2,3 with=smokes,often"
    lines = [f'{("no", "yes")[a]},"{text}",{"xyz"[b]},"{text}"' for a, b in drawn]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["smokes,smokes_channel,often,often_channel", *lines]), encoding="utf-8")

    data = open_data(path)
    shares = {(row["question"], row["option"]): row["raw"] for row in data.shares().rows}
    assert shares["smokes", "yes"] == pytest.approx(0.4, abs=0.02)
    assert shares["often", "y"] == pytest.approx(0.35, abs=0.02)
    cells = [row["raw"] for row in data.crosstab("smokes", "often").rows]
    assert cells == pytest.approx(truth.ravel().tolist(), abs=0.02)
    fitted = data.block("smokes", "often")
    assert fitted.table == pytest.approx(truth, abs=0.02)
    assert fitted.p > 0.01


def test_column_that_its_block_does_not_name_is_refused() -> None:
    """Its place among the others is not known."""
    with pytest.raises(ValueError, match="with= must name the column itself"):
        parse_channel("joint_rr odds=9 radius=0 k=2,2 with=a,b").read(["no", "yes"], "c")


@pytest.mark.parametrize("share", ["1/4", "3/4"])
def test_error_of_a_share_leaves_the_estimate_and_widens_its_limits(share: str) -> None:
    """In a file as in counts, on both sides of 1/2; a report that is drawn has the same chances."""
    counts, told = {"same": 52, "different": 48}, [f"crosswise {share}", f"crosswise {share} se=1/20"]
    exact, wide = (estimate(counts, each).rows[0] for each in told)
    assert wide["shown"] == pytest.approx(exact["shown"], rel=1e-12)
    assert wide["low"] < exact["low"] < exact["high"] < wide["high"]
    drawn = [[randomize(each, True, lambda n, k=k: bytes([k]) * n) for k in range(0, 256, 15)] for each in told]
    assert drawn[0].count("same") == drawn[1].count("same") > 0


def test_columns_that_name_one_fact_share_its_error(tmp_path: Path) -> None:
    """The same people say no to both; with two facts, the errors would not be one."""
    dice = np.random.default_rng(3)
    rows = [
        ("same" if one else "different", "same" if other else "different") for one, other in dice.random((300, 2)) < 0.7
    ]
    file = tmp_path / "two.csv"
    file.write_text("a,b\n" + "\n".join(map(",".join, rows)), encoding="utf-8")

    def width(*facts: str) -> float:
        channels = {name: f"crosswise 1/4 se=1/25 {fact}" for name, fact in zip("ab", facts, strict=True)}
        cell = open_data(file, channels).crosstab("a", "b").rows[0]
        return float(cell["high"] - cell["low"])

    two = width("fact=spring", "fact=autumn")
    assert width("fact=spring", "fact=spring") != pytest.approx(two, rel=0.01)
    assert width("", "") == pytest.approx(two, rel=1e-9)
