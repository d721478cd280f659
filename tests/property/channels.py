"""Checks of a randomizer against its mechanism, by exact computation of its channel; all raise ``AssertionError``."""

import itertools
from collections.abc import Callable, Iterator
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from sottovoce.audit.exact_channel import Distribution, following
from sottovoce.shared.answers import Value
from sottovoce.shared.spec import Question

Randomize = Callable[[Any, Any, Any], int]
Channel = dict[Value, dict[int, Fraction]]

_CONTEXT = Context(prec=40)


class Path(NamedTuple):
    """One way through a randomizer: what it reported, how likely the way is, and the bounds of what it read."""

    reported: Any
    probability: Fraction
    bounds: tuple[int, ...]


def paths(run: Callable[[Any], Any], most: int | None = None) -> Iterator[Path]:
    """Every way through ``run(draws)``; TooManyPaths as for ``following``."""
    for draws, reported in following(run, most):
        yield Path(reported, Fraction(draws.part, draws.whole), tuple(draws.bounds))


def distribution(run: Callable[[Any], Any]) -> Distribution:
    """The exact probability of each reported value."""
    result: Distribution = {}
    for path in paths(run):
        result[path.reported] = result.get(path.reported, Fraction(0)) + path.probability
    return result


def truths(question: Question) -> list[Value]:
    """Every true value of a (small) question."""
    domain = question.domain
    if question.kind.truth == "options":
        return [mask for mask in range(1 << domain.size) if mask.bit_count() <= domain.max_choices]
    if question.kind.truth == "numbers":
        return list(itertools.product(range(domain.size), repeat=len(domain.options)))
    return list(range(domain.size))


def channel(question: Question, randomize: Randomize) -> Channel:
    """The exact distribution of the running randomizer, for every true value."""
    mechanism = question.mechanism
    return {
        value: distribution(lambda draws, value=value: randomize(mechanism, value, draws)) for value in truths(question)
    }


def check_distribution(question: Question, computed: Channel) -> None:
    """The running code draws from the declared distribution."""
    for value, row in computed.items():
        assert sum(row.values()) == 1
        for reported, probability in row.items():
            assert probability == question.mechanism.probability(reported, value), "another distribution than declared"


def check_range(question: Question, computed: Channel) -> None:
    """Every admitted value is reported, with positive probability for every truth, and no other."""
    admitted = {value for value in range(question.largest + 1) if question.admits(value)}
    assert not question.admits(-1)
    assert not question.admits(question.largest + 1)
    for row in computed.values():
        assert set(row) == admitted, "another range than admitted"
        assert min(row.values()) > 0


def worst_odds(computed: Channel) -> Fraction:
    """The worst ratio of two truths' probabilities of one reported value."""
    columns = zip(*([row[reported] for reported in sorted(row)] for row in computed.values()), strict=True)
    return max(max(column) / min(column) for column in columns)


def check_epsilon(question: Question, computed: Channel) -> None:
    """The epsilon of the running code is the declared one, to 12 digits; one notch less would be a lie."""
    worst = worst_odds(computed)
    exact = _CONTEXT.ln(_CONTEXT.divide(Decimal(worst.numerator), Decimal(worst.denominator)))
    declared = Decimal(question.epsilon)
    notch = Decimal("1e-12") * declared
    assert worst <= question.mechanism.likelihood_ratio, "more epsilon than declared"
    if question.mechanism.waves == 1:
        assert declared - notch < exact < declared + notch, "another epsilon than declared"


def check_bytes(question: Question, randomize: Randomize) -> None:
    """What is read, on all ways through the randomizer together, is the same for every truth."""
    read = {
        frozenset(path.bounds for path in paths(lambda draws, value=value: randomize(question.mechanism, value, draws)))
        for value in truths(question)
    }
    assert len(read) == 1, "what is read depends on the truth"


def check(question: Question, randomize: Randomize) -> None:
    check_bytes(question, randomize)
    computed = channel(question, randomize)
    check_range(question, computed)
    check_distribution(question, computed)
    check_epsilon(question, computed)
