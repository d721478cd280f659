"""Results by random arm equal those of a survey that had this arm alone; small arms and rare answers are not shown."""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from sottovoce.aggregator.analysis.arm_results import arms_of, count_arms, has_split, is_split
from sottovoce.aggregator.analysis.estimates import RevisionCounts, SurveyResults, analyse
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.documents import names, survey as document_of
from tests.vectors.arms import COIN, arms, asks

WAVES = [{"opens": f"2026-0{month}-01T00:00:00Z", "closes": f"2026-0{month}-20T00:00:00Z"} for month in (1, 2)]


def study(weights: Sequence[int] = (1, 1), waves: bool = False) -> Survey:
    """A public and a private question for all arms, and one for the first arm."""
    document = document_of(
        asks("year", kind="select_one", choices=names(2), public=True),
        asks("direct", "direct", public=True),
        asks("copied", mechanism=COIN),
        arms=arms(*weights),
    )
    return parse_survey({**document, **({"waves": WAVES} if waves else {})})


def columns_of(survey: Survey, arm: Sequence[int], rare: int = 20) -> Columns:
    """Reports of these arms, in turn over the waves; every fifth says yes; ``rare`` of each arm chose the last year."""
    n = len(arm)
    drawn = np.array(arm)
    year = np.zeros(n, np.uint8)
    for each in set(arm):
        year[np.flatnonzero(drawn == each)[:rare]] = 1
    values = {
        "year": year,
        "direct": np.where(drawn == 0, 0, 255).astype(np.uint8),
        "copied": (np.arange(n) % 5 == 0).astype(np.uint8),
        ARM: drawn.astype(np.uint8),
    }
    return Columns((survey,), values, (np.arange(n) % len(survey.waves)).astype(np.uint8), np.zeros(n, np.uint8))


def revision(survey: Survey) -> RevisionCounts:
    """A closed revision."""
    stored = StoredSurvey(1, survey.name, 1, survey.digest, survey.canonical, closed=True, reports=0)
    return RevisionCounts(stored, survey, ())


def results_of(columns: Columns, wave: int | None = None) -> dict[str, SurveyResults]:
    """Results by the arm's name."""
    found = arms_of([revision(columns.survey)], count_arms(columns))
    return {name: analyse(each, wave=wave) for name, each in found}


def test_questions_of_several_arms_are_split() -> None:
    """One of a single arm, and the arm itself, are not."""
    survey = study()

    assert {each.name for each in survey.questions if is_split(survey, each)} == {"year", "copied"}
    assert has_split(survey)
    assert not has_split(parse_survey(document_of(asks("copied", mechanism=COIN))))


def test_each_arm_is_counted() -> None:
    """The tallies are those of its reports, and their sum is that of all."""
    columns = columns_of(study(), [0, 1, 1] * 100)
    found = results_of(columns)

    assert {name: each.reports for name, each in found.items()} == {"direct": 100, "protected": 200}
    for arm, each in enumerate(found.values()):
        copied = columns.values["copied"][columns.values[ARM] == arm]
        assert each.questions[2].tally == {0: int((copied == 0).sum()), 1: int((copied == 1).sum())}
    assert found["direct"].questions[1].n == 100
    assert found["protected"].questions[1].n == 0


def test_waves_are_counted_apart() -> None:
    """The results of one wave are those of its reports in the arm."""
    columns = columns_of(study(waves=True), [0, 0, 1, 1] * 50)

    assert [each.reports for each in results_of(columns).values()] == [100, 100]
    assert [each.reports for each in results_of(columns, wave=1).values()] == [50, 50]


@pytest.mark.parametrize("small", range(1, 5))
def test_small_arm_is_not_shown_alone(small: int) -> None:
    """Two arms are then not split; of three the small one joins the next larger one, and nothing gives it away."""
    assert results_of(columns_of(study(), [0] * small + [1] * 100)) == {}

    survey = study((1, 1, 1))
    three = [arm.name for arm in survey.arms]
    found = results_of(columns_of(survey, [0] * small + [1] * 100 + [2] * 200))
    assert {name: each.reports for name, each in found.items()} == {
        three[2]: 200,
        f"{three[0]}, {three[1]}": 100 + small,
    }


def test_arm_without_people_hides_nothing() -> None:
    """The others of three stand alone; with one arm left there is nothing to compare."""
    survey = study((1, 1, 1))

    assert len(results_of(columns_of(survey, [1] * 100 + [2] * 100))) == 2
    assert results_of(columns_of(survey, [1] * 100)) == {}
    assert results_of(columns_of(survey, [])) == {}


def test_small_arm_of_a_wave_is_shown_in_no_view() -> None:
    """Else all waves less the other wave would be these people."""
    columns = columns_of(study(waves=True), [0, 1] * 50 + [1] * 100)
    few = replace(columns, wave=np.where(columns.values[ARM] == 0, np.arange(len(columns)) < 6, columns.wave))

    assert results_of(replace(few, wave=few.wave.astype(np.uint8))) == {}


@pytest.mark.parametrize("rare", range(1, 6))
def test_rare_public_answer_is_left_out(rare: int) -> None:
    """Fewer than five people in an arm: the question is not split, while a randomized one is."""
    found = results_of(columns_of(study(), [0, 1] * 100, rare))

    assert [each.questions[0].n for each in found.values()] == ([100, 100] if rare == 5 else [0, 0])
    assert [each.questions[2].n for each in found.values()] == [100, 100]


@pytest.mark.parametrize("rare", range(6))
def test_rare_answer_of_direct_arms_is_shown_at_every_count(rare: int) -> None:
    """What two of three arms are asked openly has its share in both, however few gave an answer."""
    asked = asks("direct", ["direct", "third"], public=True)
    survey = parse_survey(document_of(asked, asks("copied", mechanism=COIN), arms=arms(1, 1, 1)))
    drawn = np.repeat([0, 1, 2], 100)
    yes = np.arange(300) % 100 < rare
    values = {"direct": np.where(drawn == 1, 255, yes), "copied": np.zeros(300), ARM: drawn}
    arrays = {name: each.astype(np.uint8) for name, each in values.items()}
    found = results_of(Columns((survey,), arrays, np.zeros(300, np.uint8), np.zeros(300, np.uint8)))

    assert [(each.questions[0].n, each.questions[0].tally.get(1, 0)) for each in found.values()] == [
        (100, rare), (0, 0), (100, rare),
    ]  # fmt: skip


def test_no_two_views_differ_by_a_few_people() -> None:
    """Over many sizes of three arms: all less any union of shown arms is nobody, or five people or more."""
    survey = study((1, 1, 1))
    for sizes in itertools.product((0, 1, 4, 5, 9), repeat=3):
        arm = [each for each, size in enumerate(sizes) for _ in range(size)]
        shown = [each.reports for each in results_of(columns_of(survey, arm)).values()]
        for kept in itertools.product((0, 1), repeat=len(shown)):
            left = sum(sizes) - sum(itertools.compress(shown, kept))
            assert not shown or left == 0 or left >= 5, (sizes, shown)
