import math
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.one_sample_test import EXACT, IMPOSSIBLE, SCORE, binomial, one_sample_test, two_sided
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.estimators import IntervalRule, estimate
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.spec import Survey

from tests.documents import number, one_of, question
from tests.unit.aggregator.analysis.samples import COIN, MASKS, asked, columns, public

ODDS_3 = {"name": "kary_rr", "odds": "3"}


def reports(survey: Survey, values: Any) -> Columns:
    return Columns.from_arrays(survey, {"a": np.asarray(values)})


def counted(document: dict[str, Any], counts: list[int]) -> Columns:
    return reports(asked(document), np.repeat(np.arange(len(counts)), counts))


@pytest.mark.parametrize(("count", "n", "chance"), [(3, 10, 0.5), (41, 100, 0.4), (0, 7, 0.3), (30, 30, 0.9)])
def test_binomial_test_adds_up_what_is_no_likelier(count: int, n: int, chance: float) -> None:
    chances = [math.comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(n + 1)]
    exact = math.fsum(each for each in chances if each <= chances[count] * (1 + 1e-9))

    assert two_sided(binomial(n, chance))[count] == pytest.approx(exact, rel=1e-9)


def test_coin_is_tested_exactly_by_its_reports() -> None:
    """A known share of .3 is a chance of 1/4 + .3/2 of a reported yes."""
    found = one_sample_test(counted(question(COIN), [55, 45]), "a", {"yes": 0.3})

    assert (found.method, found.p) == (EXACT, pytest.approx(two_sided(binomial(100, 0.4))[45]))
    assert found.statistic == pytest.approx((45 - 40) ** 2 / (100 * 0.4 * 0.6))
    assert [(one.category, one.known) for one in found.values] == [("yes", 0.3)]


@pytest.mark.parametrize(
    ("counts", "known", "p"),
    [
        ([60, 40], {"yes": 0}, math.fsum(math.comb(100, k) * 0.25**k * 0.75 ** (100 - k) for k in range(40, 101))),
        ([40, 60], {"yes": 1}, math.fsum(math.comb(100, k) * 0.75**k * 0.25 ** (100 - k) for k in range(61))),
        ([40, 60], {"no": 0}, math.fsum(math.comb(100, k) * 0.75**k * 0.25 ** (100 - k) for k in range(61))),
        ([80, 20], {"yes": 0}, math.fsum(math.comb(100, k) * 0.25**k * 0.75 ** (100 - k) for k in range(20, 101))),
    ],
)
def test_nobody_and_everybody_have_the_tail_of_the_channel(
    counts: list[int], known: dict[str, float], p: float
) -> None:
    """At least as many reports as nobody gives by chance; at most as many as everybody."""
    found = one_sample_test(counted(question(COIN), counts), "a", known)

    assert (found.method, found.statistic, found.df) == (EXACT, None, None)
    assert found.p == pytest.approx(p, rel=1e-9)
    assert found.warnings == ()


@pytest.mark.parametrize(("known", "reports"), [("yes", 70), ("no", 90)])
def test_nobody_is_tested_among_those_who_answered_too(known: str, reports: int) -> None:
    """Whoever declined gives each answer as often as noise does: of odds of 3 among three, 1 in 5."""
    document = {**question(ODDS_3), "absent_category": True}
    found = one_sample_test(counted(document, [90, 70, 140]), "a", {known: 0})
    chances = [math.comb(300, k) * 0.2**k * 0.8 ** (300 - k) for k in range(reports, 301)]

    assert (found.method, found.statistic, found.df, found.people) == (EXACT, None, None, "answered")
    assert found.p == pytest.approx(math.fsum(chances), rel=1e-9)
    assert one_sample_test(counted(public(document), [90, 0, 10]), "a", {"yes": 0}).p == 1
    assert one_sample_test(counted(public(document), [90, 1, 9]), "a", {"yes": 0}).warnings == (IMPOSSIBLE,)


@pytest.mark.parametrize("known", [0, 1])
def test_single_answer_that_noise_never_makes_is_impossible(known: int) -> None:
    """Of answers in clear: said in words; nobody among nobody is nothing special."""
    found = one_sample_test(counted(public(question(COIN)), [99, 1]), "a", {"yes": known})
    nobody = one_sample_test(counted(public(question(COIN)), [100, 0]), "a", {"yes": 0})

    assert (found.p, found.warnings) == (0.0, (IMPOSSIBLE,))
    assert (nobody.p, nobody.warnings) == (1.0, ())


def test_answer_that_nobody_has_is_impossible_among_others() -> None:
    """Of three answers in clear; with noise the same reports are only unlikely, and nobody among nobody is nothing."""
    document, known = one_of(3, ODDS_3), {"c0": 0.6, "c1": 0.4}
    found = one_sample_test(counted(public(document), [60, 37, 3]), "a", known)
    noisy = one_sample_test(counted(document, [60, 37, 3]), "a", known)
    nobody = one_sample_test(counted(public(document), [63, 37, 0]), "a", known)

    assert (found.p, found.statistic, found.df, found.warnings) == (0.0, None, None, (IMPOSSIBLE,))
    assert noisy.p > 1e-9
    assert noisy.df == 2
    assert (nobody.df, nobody.statistic) == (1, pytest.approx(9 / 60 + 9 / 40))


@pytest.mark.parametrize("openly", [False, True])
def test_square_channel_gives_pearsons_chi_square_of_its_reports(openly: bool) -> None:
    """With odds of 3, a report is true in 3 of 5, and each other option in 1 of 5."""
    document, counts, known = one_of(3, ODDS_3), np.array([50, 30, 40]), np.array([0.5, 0.2, 0.3])
    expected = 120 * (known if openly else 0.2 + 0.4 * known)
    found = one_sample_test(
        counted(public(document) if openly else document, counts.tolist()), "a", {"c0": 0.5, "c1": 0.2}
    )

    assert found.statistic == pytest.approx(((counts - expected) ** 2 / expected).sum())
    assert (found.method, found.df, found.values[2].known) == (SCORE, 2, pytest.approx(0.3))


HOLDING = np.array([[bool(mask >> option & 1) for mask in MASKS] for option in range(4)])
"""Which of four options each set of two holds."""


@pytest.mark.parametrize("kind", ["masks", "declined"])
def test_chi_square_has_the_covariance_of_every_possible_report(kind: str) -> None:
    """It is n h' V^- h, with V added up over all reports of the channel; who declined has part in neither."""
    if kind == "masks":
        document = one_of(4, {"name": "subset_selection", "odds": "3", "size": 2})
        channel, scores = np.where(HOLDING, 3, 1) / 12, (HOLDING - 5 / 12) / (3 / 4 - 5 / 12)
        counts, pi = np.array([60, 50, 80, 70, 75, 65]), np.array([0.3, 0.3, 0.2, 0.2])
        truth, data = pi, reports(asked(document), np.repeat(MASKS, counts))
    else:
        channel, scores = np.full((4, 4), 1 / 6) + np.eye(4) / 3, (np.eye(4) - 1 / 6) * 3
        counts, pi = np.array([90, 70, 60, 80]), np.array([0.5, 0.3, 0.2])
        data = counted({**one_of(3, ODDS_3), "absent_category": True}, counts.tolist())
        share = 1 - scores[3] @ counts / 300
        truth, scores = np.append(share * pi, 1 - share), scores[:3] + np.outer(pi, scores[3])
    h = scores - pi[:, None]
    mean, found = h @ counts / counts.sum(), one_sample_test(data, "a", {"c0": pi[0], "c1": pi[1], "c2": pi[2]})

    expected = counts.sum() * mean @ np.linalg.pinv(h * (truth @ channel) @ h.T) @ mean
    assert (found.method, found.df, found.statistic) == (SCORE, len(pi) - 1, pytest.approx(expected))


def masks(rng: np.random.Generator, true: np.ndarray) -> np.ndarray:
    chances = np.where(HOLDING, 3, 1) / 12
    return np.array([np.array(MASKS)[rng.choice(6, p=chances[each])] for each in true])


def kary(rng: np.random.Generator, true: np.ndarray, options: int) -> np.ndarray:
    """Reports that are true with odds 3 against each other option."""
    kept = rng.random(len(true)) < 2 / (2 + options)
    return np.where(kept, true, rng.integers(0, options, len(true)))


SHARES = [0.4, 0.3, 0.3]
DECLINED = 0.2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["kary", "declined", "masks"])
def test_true_hypothesis_is_rejected_as_often_as_said(kind: str) -> None:
    """In about 5 of 100 samples of 400 people; a fifth of them may decline."""
    rng, rejected, samples = np.random.default_rng(7), 0, 1000
    known = dict(zip(("c0", "c1", "c2"), SHARES, strict=True))
    mechanism = {"name": "subset_selection", "odds": "3", "size": 2} if kind == "masks" else ODDS_3
    document = one_of(4 if kind == "masks" else 3, mechanism)
    survey = asked({**document, **({"absent_category": True} if kind == "declined" else {})})
    for _ in range(samples):
        if kind == "masks":
            true = rng.choice(4, 400, p=[0.3, 0.3, 0.2, 0.2])
            values, known = masks(rng, true), {"c0": 0.3, "c1": 0.3, "c2": 0.2}
        else:
            answered = rng.choice(3, 400, p=SHARES)
            true = np.where(rng.random(400) < DECLINED, 3, answered) if kind == "declined" else answered
            values = kary(rng, true, 4 if kind == "declined" else 3)
        rejected += one_sample_test(reports(survey, values), "a", known).p < 0.05

    assert 0.035 <= rejected / samples <= 0.067


def test_those_who_answered_are_described_by_default() -> None:
    """Figures are those of the results; among all, no answer is a category of its own."""
    data = counted({**one_of(3, ODDS_3), "absent_category": True}, [90, 70, 60, 80])
    found, every = (one_sample_test(data, "a", among=among) for among in (None, "all"))

    assert (found.people, [one.known for one in found.values]) == ("answered", [pytest.approx(1 / 3)] * 3)
    assert (every.people, [one.known for one in every.values]) == ("all", [0.25] * 4)
    assert sum(one.estimate.clipped or 0 for one in found.values) == pytest.approx(1)


def test_known_mean_is_tested_by_the_interval_of_the_results() -> None:
    """A level just below p has the known mean within, one just above it has not."""
    document = number(0, 10, 1, {"name": "rounding_rr", "a": "3/4", "b": "1/4"})
    data = counted(document, [180, 220])
    found = one_sample_test(data, "a", 3.5)
    asked_question = data.survey.questions[0]

    def limits(alpha: float) -> tuple[float, float]:
        rule = IntervalRule(confidence=1 - alpha)
        made = estimate(asked_question.mechanism, {0: 180, 1: 220}, asked_question.domain, rule)
        mean = next(each for each in made if each.kind == "mean")
        return mean.low, mean.high

    assert limits(found.p * 0.999)[0] <= 3.5 < limits(found.p * 1.001)[0]
    assert (found.statistic, found.df, found.values[0].known) == (None, None, 3.5)


def test_known_mean_of_dates_is_a_date() -> None:
    """Written as the answers are, and so shown beside the estimate; the number of the day is the same."""
    ends = {"min": "2026-01-01", "max": "2026-01-11"}
    dates = {**question({"name": "rounding_rr", "a": "3/4", "b": "1/4"}), "type": "date", **ends}
    by_date, by_day = (
        parse_request("test", {"question": "a", "mean": mean}).document(counted(dates, [180, 220]))
        for mean in ("2026-01-05", "20458")
    )
    assert by_date == by_day
    assert by_date["values"][0]["known"] == 20458
    assert by_date["dates"] == ["a"]


@pytest.mark.parametrize(
    ("document", "known", "told"),
    [
        (one_of(3, ODDS_3), {"c0": 0.5, "c1": 0.6}, "must sum to 1"),
        (one_of(3, ODDS_3), {"c0": 0.5}, "at most one of them may be left out"),
        (one_of(3, ODDS_3), {"SECRET": 0.5}, "has no category of this name; it has: c0, c1, c2"),
        (one_of(3, ODDS_3), {"c0": 1, "c1": 0}, "are tested for two answers, through"),
        (one_of(3, ODDS_3), 3.0, "has answers and no mean"),
        (number(0, 10, 1, {"name": "geometric", "ratio": "4/5"}), None, "give the known mean"),
        (number(0, 10, 1, {"name": "geometric", "ratio": "4/5"}), 11, "lies outside the values"),
        (number(0, 10, 1, {"name": "geometric", "ratio": "4/5"}), "1970-01-04", "give the known mean"),
    ],
)
def test_values_that_do_not_fit_are_refused(document: dict[str, Any], known: Any, told: str) -> None:
    """The message says how to fix it, and never repeats what was sent."""
    with pytest.raises(EstimateError) as refused:
        one_sample_test(counted(document, [40, 30, 30]), "a", known)

    assert told in str(refused.value)
    assert "SECRET" not in str(refused.value)


def test_public_question_is_not_tested_within_a_subset() -> None:
    """Its exact counts there would be a table without the smallest cell."""
    data = columns([[20, 10], [15, 12]], public(question(COIN)), public(question(COIN)))

    assert parse_request("test", {"question": "a"}).document(data)["n"] == 57
    with pytest.raises(EstimateError, match="make a table of both questions"):
        parse_request("test", {"question": "a", "where": "b = yes"}).document(data)
