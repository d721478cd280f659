"""Respondents needed: the printed tables, and what fieldwork does to them."""

import json
import math

import pytest
from sottovoce.aggregator.planning.sample_size import (
    DIRECT,
    Channel,
    Fieldwork,
    Goal,
    curve,
    kary,
    plan,
    symmetric,
    table,
)
from sottovoce.shared.errors import EstimateError

COIN = Channel(3 / 4, 1 / 4)
WARNER = Channel(2 / 3, 1 / 3)
DIGITS = (0, 0, 1, 1, 1)


def test_plan_gives_the_printed_table() -> None:
    """Half-width of 3 points: direct, coin flip and Warner at five prevalences."""
    prevalences = (0.01, 0.05, 0.1, 0.3, 0.5)
    coin, warner = table(COIN, prevalences, 0.03), table(WARNER, prevalences, 0.03)

    assert [row.direct for row in coin] == [43, 203, 385, 897, 1068]
    assert [row.reports for row in coin] == [3244, 3404, 3586, 4098, 4269]
    assert [row.reports for row in warner] == [8579, 8740, 8921, 9433, 9604]
    assert [round(row.ratio or 0, digits) for row, digits in zip(coin, DIGITS, strict=True)] == [77, 17, 9.3, 4.6, 4.0]
    assert [round(row.ratio or 0) for row in warner] == [203, 43, 23, 11, 9]


def test_plan_gives_the_printed_wider_half_width() -> None:
    """5 points at 10 percent."""
    assert [plan(c, Goal(0.1, 0.05)).reports for c in (DIRECT, COIN, WARNER)] == [139, 1291, 3212]


@pytest.mark.parametrize(("epsilon", "reports"), [(math.log(3), [3586, 6147, 11269]), (2, [1157, 1500, 2185])])
def test_plan_of_categories_gives_the_printed_figures(epsilon: float, reports: list[int]) -> None:
    """With k = 2, 4, 8 and 3 points on a category that holds 10 percent."""
    assert reports == [plan(kary(epsilon, k), Goal(0.1, 0.03)).reports for k in (2, 4, 8)]


def test_plan_of_a_difference_uses_unpooled_variances() -> None:
    """.2 against .3 with power .8: 1,468 a group, 291 directly; the pooled formula would say 1,471."""
    made = plan(COIN, Goal(0.2, other=0.3))

    assert (made.groups, made.reports, made.direct) == (2, 1468, 291)
    assert abs(0.1) / made.std_error == pytest.approx(1.959964 + 0.841621, abs=1e-3)


def test_plan_counts_the_sampling_of_people() -> None:
    """The noise alone would ask for 3,202 at p = .5 instead of 4,269."""
    z = 1.959963984540054

    assert plan(COIN, Goal(0.5, 0.03)).reports == 4269
    assert math.ceil((z / 0.03) ** 2 * COIN.noise(0.5)) == 3202
    for p in (0.0, 0.1, 0.7):
        reported = COIN.reported(p)
        assert COIN.noise(p) + p * (1 - p) == pytest.approx(reported * (1 - reported) / 0.25, abs=1e-15)


@pytest.mark.parametrize(
    ("p", "share", "own_coin", "device"),
    [(0.05, 0.1, -0.005, 0.045), (0.1, 0.1, 0.04, 0.09), (0.1, 0.2, -0.02, 0.08), (0.2, 0.1, 0.13, 0.18)],
)
def test_plan_shows_what_no_sayers_do(p: float, share: float, own_coin: float, device: float) -> None:
    """The printed table of self-protection: with coins of one's own, and on the device."""
    for expected, own in ((own_coin, True), (device, False)):
        rows = plan(COIN, Goal(p, 0.03), Fieldwork(own_coin=own)).protection
        row = next(row for row in rows if row.share == share)

        assert row.expected == pytest.approx(expected, abs=1e-12)
        assert row.bias == pytest.approx(expected - p, abs=1e-12)
    assert tuple(row.share for row in rows) == (0.0, 0.05, 0.1, 0.2)


def test_fieldwork_scales_the_invitations() -> None:
    """Half respond, two questions of five are asked: five times as many letters, as many reports."""
    made = plan(COIN, Goal(0.1, 0.03), Fieldwork(response_rate=0.5, asked=(2, 5)))

    assert (made.reports, made.invitations) == (3586, 3586 * 5)


def test_clusters_stretch_people_and_weights_stretch_everything() -> None:
    """Coin flip at p = .1: noise .75, people .09; doubling people adds .09, doubling all adds .84."""
    base = plan(COIN, Goal(0.1, 0.03)).reports

    assert plan(COIN, Goal(0.1, 0.03), Fieldwork(clustering=2)).reports == pytest.approx(base * 0.93 / 0.84, abs=1)
    assert plan(COIN, Goal(0.1, 0.03), Fieldwork(weighting=2)).reports == pytest.approx(base * 2, abs=1)


def test_assurance_asks_for_more() -> None:
    """Room for the estimated variance; none at p = .5, where it cannot come out larger."""
    assert plan(COIN, Goal(0.1, 0.03, assurance=0.9)).reports > 3586 * 1.01
    assert plan(DIRECT, Goal(0.1, 0.03, assurance=0.9)).reports > 385 * 1.1
    assert plan(COIN, Goal(0.5, 0.03, assurance=0.9)).reports == 4269


def test_curve_falls_with_epsilon_towards_the_direct_question() -> None:
    """Over epsilon, for yes/no and for eight categories."""
    epsilons = [0.25, 0.5, 1, math.log(3), 2, 4, 8, 30]
    binary, eight = curve(epsilons, Goal(0.1, 0.03)), curve(epsilons, Goal(0.1, 0.03), options=8)

    assert sorted((point.reports for point in binary), reverse=True) == [point.reports for point in binary]
    assert (binary[3].reports, binary[-1].reports, eight[3].reports) == (3586, 385, 11269)
    assert symmetric(1.0) == binary[2].channel
    assert symmetric(1.0).epsilon == pytest.approx(1, abs=1e-12)


def test_epsilon_of_a_channel_counts_both_sides() -> None:
    """Folk error 2: forced response with 11/12 and 1/6 costs ln 10, not ln 5.5; a direct question everything."""
    assert Channel(11 / 12, 1 / 6).epsilon == pytest.approx(math.log(10))
    assert math.inf == DIRECT.epsilon


def test_plan_dumps_to_json() -> None:
    """Whole, and with the numbers that it shows."""
    document = json.loads(json.dumps(plan(COIN, Goal(0.1, 0.03)).as_dict()))

    assert (document["reports"], document["channel"]["a"], document["goal"]["prevalence"]) == (3586, 0.75, 0.1)
    assert [row["share"] for row in document["protection"]] == [0.0, 0.05, 0.1, 0.2]


def test_plan_at_a_prevalence_of_zero_has_no_ratio() -> None:
    """A direct question needs no variance there."""
    made = plan(COIN, Goal(0.0, 0.03))

    assert made.ratio is None
    assert made.direct == 1


def test_impossible_plans_are_refused() -> None:
    """Every argument has its range, and a channel of noise has no plan."""
    for make in (
        lambda: Channel(0.25, 0.75),
        lambda: Channel(math.nan, 0.1),
        lambda: kary(0, 2),
        lambda: kary(math.nan, 2),
        lambda: kary(math.inf, 2),
        lambda: kary(1, 1),
        lambda: Goal(0.1),
        lambda: Goal(0.1, 0.03, 0.2),
        lambda: Goal(1.1, 0.03),
        lambda: Goal(0.1, 0.0),
        lambda: Goal(0.1, math.nan),
        lambda: Goal(0.1, other=0.1),
        lambda: Goal(0.1, 0.03, confidence=1),
        lambda: Goal(0.1, other=0.2, power=1),
        lambda: Fieldwork(response_rate=0),
        lambda: Fieldwork(clustering=0.5),
        lambda: Fieldwork(weighting=math.nan),
        lambda: Fieldwork(asked=(3, 2)),
        lambda: plan(symmetric(1e-9), Goal(0.1, 0.03)),
        lambda: plan(symmetric(1e-9), Goal(0.1, 0.03, assurance=0.9)),
    ):
        with pytest.raises(EstimateError):
            make()
