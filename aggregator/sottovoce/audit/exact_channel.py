"""Hold channels against the claim: the survey's integers, and the exact distribution of running code.

A question with many true values or reports is not computed whole. Then the epsilon of its integers is the mechanism's
closed form, a stated sample of inputs is computed, and code with too many branches is run on a smaller question of the
same mechanism. ``scope`` always says which.

The distribution follows from every branch of a randomizer, with branches in the place of ``Draws``. ``pick`` branches
by outcome and ``below`` by value, each branch with its exact probability, so a denominator of 2^32 costs no more than
one of 4. What it does not run, the rejection loop of ``Draws.below``, is tested on its own.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache, partial
from itertools import islice, product
from math import comb, prod
from typing import Any, TypeVar

from sottovoce.audit.reference_distribution import reference_distribution
from sottovoce.shared import rational
from sottovoce.shared.answers import Value
from sottovoce.shared.mechanisms import Mechanism, Table
from sottovoce.shared.mechanisms.memoized_rr import MemoizedRR
from sottovoce.shared.rational import MAX_DENOMINATOR
from sottovoce.shared.spec import Question

ALL_CELLS = 1 << 20
"""Weights up to which a table is computed whole."""

ALL_PROBABILITIES = 1 << 14
"""Probabilities up to which another channel is computed whole."""

ALL_WAVES = 6
"""Waves under one memo up to which all courses of the truth are tried."""

SAMPLED = 16
"""Inputs that are computed where not all are."""

SAMPLED_REPORTS = 64

MAX_PATHS = 4096
"""Most ways through a randomizer for one input."""

MAX_WORK = 8192
"""Approximate limit of ways for all inputs of a question together; two inputs at least are tried."""

QUICK_WORK = 1024
"""``MAX_WORK`` while a survey is edited."""

_CONTEXT = Context(prec=40)
_NOTCH = Decimal("1e-12")

MAX_BRANCHES = 4096
"""Most outcomes of one draw."""

MAX_DRAWS = 4096
"""Most draws on one way: a client that draws until something comes would else draw for ever."""

_DRAWS = 8
_NO_WEIGHTS = "weights are whole numbers of at least 0"

Distribution = dict[Any, Fraction]
"""The exact probability of each reported value, or of another outcome of the draws."""


class TooManyPaths(Exception):
    """There are more ways through the randomizer than may be tried."""


class ScriptedBranches:
    """Branches that follow a script of choices, then always take the first, and remember the choices there were.

    Attributes:
        script: for each draw the index of the choice to take; ``taken`` are those so far.
        choices: number of choices at each draw.
    """

    def __init__(self, script: Sequence[int]) -> None:
        self.script = script
        self.taken: list[int] = []
        self.choices: list[int] = []

    def choose(self, choices: int) -> int:
        """Take one of so many branches, and return its index."""
        step = len(self.taken)
        self.taken.append(self.script[step] if step < len(self.script) else 0)
        self.choices.append(choices)
        return self.taken[-1]


Scripted = TypeVar("Scripted", bound=ScriptedBranches)


def every_way(begin: Callable[[list[int]], Scripted]) -> Iterator[Scripted]:
    """Yield what follows the script of every way in order, the last choice first; each is to be run when it comes."""
    script: list[int] = []
    while True:
        scripted = begin(script)
        yield scripted
        script = list(scripted.taken)
        while script and script[-1] + 1 == scripted.choices[len(script) - 1]:
            script.pop()
        if not script:
            return
        script[-1] += 1


class BranchingDraws(ScriptedBranches):
    """Draws that take every branch, with its exact probability.

    Attributes:
        bounds: of the draws, where they read something.
        part: ``part / whole`` is the probability of the way so far, not in lowest terms.
    """

    def __init__(self, script: Sequence[int]) -> None:
        super().__init__(script)
        self.bounds: list[int] = []
        self.part = self.whole = 1

    def below(self, bound: int) -> int:
        """Take one branch for each value."""
        if type(bound) is not int or bound < 1:
            raise ValueError("a draw needs a bound of at least 1")
        if bound > MAX_BRANCHES:
            raise TooManyPaths
        return self._branch(bound, None, range(bound))

    def pick(self, weights: Sequence[int]) -> int:
        """Take one branch for each index that has a weight."""
        if set(map(type, weights)) != {int}:
            raise ValueError(_NO_WEIGHTS)
        return self._branch(*_weighed(tuple(weights)))

    def _branch(self, bound: int, weights: Sequence[int] | None, live: Sequence[int]) -> int:
        if len(self.taken) == MAX_DRAWS:
            raise TooManyPaths
        index = live[self.choose(len(live))]
        if bound > 1:  # a bound of 1 reads no byte
            self.bounds.append(bound)
        if weights is not None:
            self.part *= weights[index]
        self.whole *= bound
        return index


# The same few rows of weights are drawn from again and again.
@lru_cache(maxsize=1024)
def _weighed(weights: tuple[int, ...]) -> tuple[int, tuple[int, ...], Sequence[int]]:
    """Return the sum of weights, the weights, and the indices that have one."""
    if min(weights) < 0:
        raise ValueError(_NO_WEIGHTS)
    if not 1 <= sum(weights) <= MAX_DENOMINATOR:
        raise ValueError("weights sum to 1 .. 2^32")
    if len(weights) > MAX_BRANCHES:
        raise TooManyPaths
    return sum(weights), weights, tuple(index for index, weight in enumerate(weights) if weight)


def following(run: Callable[[Any], Any], most: int | None = None) -> Iterator[tuple[BranchingDraws, Any]]:
    """Yield the draws of every way through ``run(draws)``, and its outcome.

    Raises TooManyPaths if there are more than ``most`` ways, or they have more than eight draws each, or one of them
    more than ``MAX_DRAWS``, or one draw has more than ``MAX_BRANCHES`` outcomes.
    """
    drawn = 0
    for count, draws in enumerate(every_way(BranchingDraws), 1):
        if most is not None and (count > most or drawn > most * _DRAWS):
            raise TooManyPaths
        reported = run(draws)
        drawn += len(draws.taken)
        yield draws, reported


@dataclass(frozen=True)
class Computed:
    """The exact distribution of the code's reports for some inputs.

    Attributes:
        bounds: the sets of bounds drawn from, over all ways; what is read depends on nothing else.
        ways: number of branches followed; 0 if not counted.
    """

    distribution: Distribution
    bounds: frozenset[tuple[int, ...]]
    ways: int = 0


class Mismatch(Exception):
    """A difference between the claim and the code or its integers. The message names it and repeats no answer."""


def inputs_of(question: Question, most: int) -> list[Value]:
    """Return every true value if there are at most ``most``, else so many of them: the ends and some between."""
    if question.domain.coordinates:
        size, count = question.domain.size, len(question.domain.options)
        if size**count <= most:
            return list(product(range(size), repeat=count))
        mixed = [tuple((place * step) % size for place in range(count)) for step in range(1, most - 1)]
        return [*dict.fromkeys([(0,) * count, (size - 1,) * count, *mixed])]
    if question.kind.is_set:
        return [*_masks(question, most)]
    size = question.domain.size
    return list(range(size)) if size <= most else sorted({place * (size - 1) // (most - 1) for place in range(most)})


def input_count(question: Question) -> int:
    """Return the number of true values."""
    domain = question.domain
    if question.domain.coordinates:
        return int(domain.size ** len(domain.options))
    if question.kind.is_set:
        return sum(comb(domain.size, count) for count in range(domain.max_choices + 1))
    return domain.size


def _masks(question: Question, most: int) -> list[int]:
    size, most_options = question.domain.size, question.domain.max_choices
    if size <= 16 and input_count(question) <= most:
        return [mask for mask in range(1 << size) if mask.bit_count() <= most_options]
    low = [(1 << count) - 1 for count in range(most_options + 1)]
    high = [mask << (size - mask.bit_length()) for mask in low]
    spread = [sum(1 << option for option in range(first, size, 2)) for first in (0, 1)]
    found = dict.fromkeys([0, low[-1], high[-1], *spread, *low, *high])
    return [mask for mask in found if mask.bit_count() <= most_options][:most]


def reports_of(question: Question, most: int) -> list[int]:
    """Return the admitted reports if they are among the first ``most`` numbers, else the first so many and the last."""
    largest = question.largest
    if largest < ALL_CELLS:
        return list(islice(filter(question.admits, range(largest + 1)), most))
    # Masks: with as many options as the largest has, moving the last of them; or none, single ones and all.
    size = largest.bit_count()
    first = 0 if question.admits(0) else (1 << size) - 1
    rest = first & ~(1 << max(0, size - 1))
    masks = [first, *(rest | 1 << place for place in range(largest.bit_length())), largest]
    return [*dict.fromkeys(filter(question.admits, masks))][:most]


def prove_integers(question: Question) -> tuple[Fraction, str]:
    """Return the worst odds of the survey's own integers, and what was computed. Raises Mismatch if a weight is 0, rows
    have different sums, or the odds are worse than the mechanism says.
    """
    mechanism = question.randomizer
    if isinstance(mechanism, Table) and input_count(question) * (mechanism.largest + 1) <= ALL_CELLS:
        worst, scope = _whole_table(question, mechanism)
    elif isinstance(mechanism, MemoizedRR) and mechanism.waves <= ALL_WAVES:
        worst, scope = _whole_memo(mechanism)
    else:
        worst, scope = _probabilities(question, mechanism)
    if worst > mechanism.likelihood_ratio:
        raise Mismatch("the integers give worse odds than are claimed")
    check_claim(mechanism.likelihood_ratio, question.epsilon)
    return mechanism.likelihood_ratio, scope


def _whole_table(question: Question, mechanism: Table) -> tuple[Fraction, str]:
    rows = {mechanism.weights(value) for value in range(question.domain.size)}
    if len({sum(row) for row in rows}) != 1 or any(min(row) < 1 for row in rows):
        raise Mismatch("a weight is not above 0, or rows have different sums")
    worst = max(Fraction(max(column), min(column)) for column in map(set, zip(*rows, strict=True)))
    return worst, f"all {question.domain.size} x {mechanism.largest + 1} weights"


def _whole_memo(mechanism: MemoizedRR) -> tuple[Fraction, str]:
    """Compute all reports of all waves under all courses of the truth, one by one."""
    courses = list(product((0, 1), repeat=mechanism.waves))
    pairs = product((0, 1), repeat=2)
    memos = [(memo, prod(mechanism.permanent.weights(truth)[memo[truth]] for truth in (0, 1))) for memo in pairs]
    sent = [mechanism.instantaneous.weights(bit) for bit in (0, 1)]
    columns = (
        [
            sum(weight * prod(sent[memo[x]][y] for x, y in zip(course, reports, strict=True)) for memo, weight in memos)
            for course in courses
        ]
        for reports in courses
    )
    scope = f"all {len(courses)} reports of {mechanism.waves} waves x {len(courses)} courses of the truth"
    return _worst_ratio(columns), scope


def _probabilities(question: Question, mechanism: Mechanism) -> tuple[Fraction, str]:
    most = ALL_PROBABILITIES
    whole = mechanism.largest < most and input_count(question) * (mechanism.largest + 1) <= most
    inputs = inputs_of(question, most if whole else SAMPLED)
    reports = reports_of(question, most if whole else SAMPLED_REPORTS)
    worst = _worst_ratio([mechanism.probability(reported, value) for value in inputs] for reported in reports)
    cells = f"{len(inputs)} inputs x {len(reports)} reports"
    return worst, f"all {cells}" if whole else f"closed form; {cells} computed"


def _worst_ratio(columns: Iterable[Sequence[int | Fraction]]) -> Fraction:
    """Return the largest ratio of two weights within a column, which has one for each true value."""
    worst = Fraction(1)
    for column in columns:
        if min(column) <= 0:
            raise Mismatch("a report rules a true value out")
        worst = max(worst, Fraction(max(column)) / min(column))
    return worst


def check_claim(odds: Fraction, claim: float) -> None:
    """Raise Mismatch if epsilon exceeds the claim by more than one part in 10^12, or the claim is no number."""
    exact = _CONTEXT.ln(_CONTEXT.divide(Decimal(odds.numerator), Decimal(odds.denominator)))
    if math.isnan(claim) or Decimal(claim) < exact * (1 - _NOTCH):
        raise Mismatch("epsilon is larger than is claimed")


def compute(run: Callable[[Any, Any], int], inputs: Sequence[Value], most: int = MAX_PATHS) -> dict[Value, Computed]:
    """Return the exact distribution of ``run(value, draws)`` for each input; raises TooManyPaths above ``most``
    ways.
    """
    return {value: _computed(run, value, most) for value in inputs}


def _computed(run: Callable[[Any, Any], int], value: Value, most: int) -> Computed:
    # Summed by denominators, of which there are few: to cancel on each way would take longer than the draws.
    found: dict[Any, Counter[int]] = {}
    bounds = set()
    ways = 0
    for draws, reported in following(partial(run, value), most):
        ways += 1
        found.setdefault(reported, Counter())[draws.whole] += draws.part
        bounds.add(tuple(draws.bounds))
    distribution = {
        reported: sum((Fraction(part, whole) for whole, part in parts.items()), start=Fraction(0))
        for reported, parts in found.items()
    }
    return Computed(distribution, frozenset(bounds), ways)


def has_too_many(run: Callable[[Any], Any], most: int) -> bool:
    """Return whether there are more than ``most`` ways through ``run(draws)``."""
    try:
        return sum(1 for _ in following(run, most)) > most
    except TooManyPaths:
        return True


def toss_distribution(flips: int, parts: Sequence[tuple[str, Sequence[str | int]]], truth: int) -> Distribution:
    """Return the exact distribution of what a person with a coin or a die reports who follows the instructions.

    ``flips`` is 0 for one throw of a die. ``parts`` are (``truth``, ``opposite``, ``yes`` or ``no``; beginnings of a
    row of flips, or first and last number). Raises Mismatch if what is to be done after some toss is not said, or said
    twice.
    """
    tosses: list[str | int] = ["".join(row) for row in product("HT", repeat=flips)] if flips else list(range(1, 7))
    reports = {"truth": truth, "opposite": 1 - truth, "yes": 1, "no": 0}
    found: Distribution = {}
    for toss in tosses:
        actions = [action for action, outcomes in parts if _is_among(toss, outcomes)]
        if len(actions) != 1 or actions[0] not in reports:
            raise Mismatch("the instructions say nothing about some toss, or two things")
        reported = reports[actions[0]]
        found[reported] = found.get(reported, Fraction(0)) + Fraction(1, len(tosses))
    return found


def _is_among(toss: str | int, outcomes: Sequence[str | int]) -> bool:
    if isinstance(toss, str):
        return any(toss.startswith(str(beginning)) for beginning in outcomes)
    first, last = map(int, outcomes)
    return first <= toss <= last


def odds_of_one(question: Question) -> Fraction:
    """Return the worst odds of one report by itself, where the mechanism's cover several waves."""
    mechanism = question.randomizer
    if mechanism.waves == 1:
        return mechanism.likelihood_ratio
    reports, inputs = range(mechanism.largest + 1), range(question.domain.size)
    columns = [[mechanism.probability(reported, value) for value in inputs] for reported in reports]
    return max(max(column) / min(column) for column in columns)


def claim_of_one(question: Question) -> float:
    """Return the epsilon of one report by itself."""
    mechanism = question.mechanism
    return question.epsilon if mechanism is None or mechanism.waves == 1 else rational.log(odds_of_one(question))


def check_code(question: Question, computed: Mapping[Value, Computed]) -> Fraction:
    """Hold the distribution of running code against the mechanism; return its worst odds, of one report. Raises
    Mismatch if bytes read, range, distribution or epsilon are not those of the mechanism.
    """
    if len({row.bounds for row in computed.values()}) > 1:
        raise Mismatch("what is read depends on the true answer")
    rows = [row.distribution for row in computed.values()]
    if any(set(row) != set(rows[0]) for row in rows) or any(min(row.values()) <= 0 for row in rows):
        raise Mismatch("a report rules a true answer out")
    for value, row in computed.items():
        _check_row(question, value, row.distribution)
    check_reads(computed.values())
    worst = max(max(row[y] for row in rows) / min(row[y] for row in rows) for y in rows[0])
    if worst > odds_of_one(question):
        raise Mismatch("epsilon is larger than is claimed")
    check_claim(worst, claim_of_one(question))
    return worst


def check_reads(rows: Iterable[Computed]) -> None:
    """Raise Mismatch if other bytes are read for another truth or on another way: that tells something beside a
    report.
    """
    found = {row.bounds for row in rows}
    if len(found) > 1:
        raise Mismatch("what is read depends on the true answer")
    if any(len(bounds) > 1 for bounds in found):
        raise Mismatch("what is read depends on what is reported")


def _check_row(question: Question, value: Value, row: Distribution) -> None:
    if not all(type(y) is int and question.admits(y) for y in row):
        raise Mismatch("a value is reported that the survey does not admit")
    if sum(row.values()) != 1:
        raise Mismatch("the probabilities do not sum to 1")
    distribution = reference_distribution(question.randomizer.dump(), question.domain)
    if any(probability != distribution(y, value) for y, probability in row.items()):
        raise Mismatch("another distribution than the survey's is drawn from")
