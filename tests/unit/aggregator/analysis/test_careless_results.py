"""Results of a survey with anchors: the share of careless people, and corrected shares beside the others."""

from typing import Any

import pytest
from sottovoce.aggregator.analysis.estimates import RevisionCounts, SurveyResults, analyse
from sottovoce.aggregator.analysis.results_document import export_document
from sottovoce.aggregator.analysis.worked_example import results_in_words
from sottovoce.aggregator.export.catalogue import COLUMNS, result_rows
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.storage import Cell
from sottovoce.aggregator.storage.models import ALL
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.exported import counted
from tests.surveys import document, months
from tests.unit.shared.test_schema import validate

COIN = {"type": "boolean", "name": "cheated", "label": {"en": "Cheated?"}, "mechanism": {"name": "coin_flip"}}
MOON = {"type": "boolean", "name": "moon", "label": {"en": "Moon?"}, "public": True, "anchor": True, "known_share": "0"}
AGE = {"type": "integer", "name": "age", "label": {"en": "Age?"}, "min": 18, "max": 99, "public": True}
TALLIES = {0: {0: 675, 1: 325}, 1: {0: 950, 1: 50}}
"""Of 1,000 people, 10 % are careless; 15 % of all, and so 11.1 % of the others, cheated."""


def _survey(*questions: dict[str, Any], **changes: Any) -> Survey:
    return parse_survey(document(questions=list(questions), **changes))


def _counts(asked: Survey, tallies: dict[int, dict[int, int]] = TALLIES, **more: Any) -> RevisionCounts:
    n = sum(tallies[0].values())
    return counted(asked, Cell(0, ALL, n, 0, tallies), reports=n, **more)


def _corrected(found: SurveyResults, name: str = "cheated") -> list[float | None]:
    [result] = [each for each in found.questions if each.question.name == name]
    return [estimate.raw for estimate in result.corrected]


def test_corrected_share_is_beside_the_uncorrected_one() -> None:
    """In the results, the JSON export with its schema, the rows of files and the terminal's sentences."""
    found = analyse([_counts(_survey(COIN, MOON))])
    exported = export_document(found)
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in result_rows(found, About.of(found.survey))]

    assert found.careless.raw == pytest.approx(0.1)
    assert found.questions[0].estimates[0].raw == pytest.approx(0.15)
    assert _corrected(found) == pytest.approx([(0.15 - 0.05) / 0.9])
    validate("export", exported)
    assert exported["careless"]["anchors"][0]["name"] == "moon"
    assert exported["questions"][0]["corrected"]["people"] == "careful"
    assert [(row["question"], row["among"]) for row in rows][:2] == [("cheated", "all"), ("cheated", "careful")]
    assert "cheated: Corrected for careless answers: yes 11.1% (4.7% to 17.8%)." in results_in_words(found)


def test_anchor_numbers_and_hidden_questions_are_not_corrected() -> None:
    """A number has no options, and careless people meet hidden questions less or more often."""
    hidden = {**COIN, "name": "hidden", "when_absent": "no", "visible_if": {"cheated": "yes"}}
    asked = _survey(COIN, MOON, AGE, hidden)
    found = analyse([_counts(asked, TALLIES | {2: {2: 1000}, 3: {0: 700, 1: 300}})])
    assert [bool(each.corrected) for each in found.questions] == [True, False, False, False]


@pytest.mark.parametrize(("changes", "closed"), [({}, False), ({}, True), ({"trial": True}, False)])
def test_open_surveys_wait_for_their_close(changes: dict[str, Any], closed: bool) -> None:
    """These limits hold for one look; test runs have invented answers."""
    found = analyse([_counts(_survey(COIN, MOON, **changes), closed=closed)])
    assert (found.careless is not None) == (closed or "trial" in changes)
    assert bool(_corrected(found)) == (found.careless is not None)


@pytest.mark.parametrize(
    "counts",
    [
        # Its exact count would follow from the corrected shares.
        _counts(_survey(COIN, MOON), withheld=frozenset({"moon"})),
        # Files of reports leave out rare public answers, which are those of careless people.
        _counts(_survey(COIN, MOON), {0: TALLIES[0], 1: {0: 997}}),
    ],
    ids=["withheld", "answers left out"],
)
def test_anchor_without_its_whole_count_corrects_nothing(counts: RevisionCounts) -> None:
    found = analyse([counts])
    assert found.careless is None
    assert not _corrected(found)
    assert "careless" not in export_document(found)


def test_correction_may_add_an_anchor() -> None:
    """The first revision asked without one: only the second one's reports say how many are careless."""
    first, second = _survey(COIN), _survey(COIN, MOON, revision=2)
    found = analyse([_counts(first, {0: TALLIES[0]}), _counts(second)])
    assert (found.careless.n, found.questions[0].corrected[0].n) == (1000, 2000)
    assert _corrected(found) == pytest.approx([(0.15 - 0.05) / 0.9])


def test_anchor_of_a_later_revision_counts_earlier_answers_too() -> None:
    """The same question was asked before it was called an anchor."""
    plain = {key: value for key, value in MOON.items() if key not in {"anchor", "known_share"}}
    found = analyse([_counts(_survey(COIN, plain)), _counts(_survey(COIN, MOON, revision=2))])
    assert found.careless.n == 2000


def _of_waves(**changes: Any) -> list[RevisionCounts]:
    """Two waves of 1,000 people of one cohort, of whom 4 % and 20 % are careless."""
    asked = _survey(COIN, MOON, document()["questions"][2], waves=months(2), **changes)
    tallies = {0: {0: 700, 1: 300}, 1: {0: 980, 1: 20}}, {0: {0: 675, 1: 325}, 1: {0: 900, 1: 100}}
    cells = [
        Cell(wave, cohort, 1000, 0, {**of_wave, 2: {0: 1000}})
        for wave, of_wave in enumerate(tallies)
        for cohort in (ALL, 0)
    ]
    return [counted(asked, *cells, reports=2000)]


def test_waves_and_cohorts_have_their_own_careless_people() -> None:
    """And so has a cohort in a wave."""
    found = [analyse(_of_waves(), wave=wave) for wave in (0, 1, None)]
    of_group = analyse(_of_waves(), cohort="first", wave=1)
    shares = [view.careless.raw for view in (*found, of_group) if view.careless]
    assert shares == pytest.approx([0.04, 0.2, 0.12, 0.2])


def test_waves_added_up_allow_for_the_same_people() -> None:
    """Their variance is twice that of waves with other people each."""
    same, fresh = (analyse(_of_waves(**changes)).questions[0].corrected[0] for changes in ({}, {"fresh_samples": True}))
    assert same.raw == pytest.approx(fresh.raw)
    assert (same.std_error or 0) == pytest.approx(2**0.5 * (fresh.std_error or 0))


def test_declining_counts_as_an_option_shown() -> None:
    """Three options: 10 % careless people say yes at a third, and decline at a third."""
    ways = {"absent_category": True}
    asked = _survey({**COIN, **ways, "mechanism": {"name": "kary_rr", "odds": "3"}}, {**MOON, **ways})
    truth = [0.9 * share + 0.1 / 3 for share in (0.95 * 0.8, 0.95 * 0.2, 0.05)]
    reported = [round(3000 * (0.2 + 0.4 * share)) for share in truth]
    anchored = [round(3000 * share) for share in (0.9 * 0.95 + 0.1 / 3, 0.1 / 3, 0.9 * 0.05 + 0.1 / 3)]
    found = analyse([_counts(asked, {0: dict(enumerate(reported)), 1: dict(enumerate(anchored))})])
    assert found.careless.raw == pytest.approx(0.1)
    assert _corrected(found) == pytest.approx([0.8, 0.2], abs=0.002)
    assert export_document(found)["questions"][0]["corrected"]["people"] == "careful_answered"


def test_drawn_questions_share_fewer_reports_with_a_drawn_anchor() -> None:
    """With one of two private questions each, no report has both, so the estimates are independent."""
    anchor = {**COIN, "name": "moon", "anchor": True, "known_share": "0"}
    asked, all_asked = _survey(COIN, anchor, ask=1), _survey(COIN, anchor)
    tallies = {0: {0: 650, 1: 350}, 1: {0: 700, 1: 300}}
    apart, together = (
        analyse([_counts(each, tallies)]).questions[0].corrected[0].std_error or 0 for each in (asked, all_asked)
    )
    assert apart > together
