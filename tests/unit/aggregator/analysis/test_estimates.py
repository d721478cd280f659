import json
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import pytest
from sottovoce.aggregator.analysis.diagnostics import alarms
from sottovoce.aggregator.analysis.estimates import RevisionCounts, SurveyResults, analyse, cohort_groups
from sottovoce.aggregator.analysis.published_counts import revisions_of
from sottovoce.aggregator.analysis.results_document import Population, export_document, group_of
from sottovoce.aggregator.analysis.worked_example import results_in_words
from sottovoce.aggregator.estimators.fixed_population import MOST, people_count
from sottovoce.aggregator.export.catalogue import COLUMNS, result_rows
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.storage import Cell
from sottovoce.aggregator.storage.hash_chain import ChainHead
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.studio.labels import alarm_in_words
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.exported import TODAY, answered, counted, send
from tests.storage.test_contract import arrival, identity, plan
from tests.surveys import document, every_type, months, survey
from tests.unit.shared.test_schema import validate

SURVEY = survey()

CELLS = [Cell(0, ALL, 100, 0, {0: {0: 70, 1: 30}, 1: {0: 50, 1: 30, 2: 20}, 2: {0: 60, 1: 40}})]


def one(cells: list[Cell], **more: Any) -> list[RevisionCounts]:
    return [counted(SURVEY, *cells, **{"closed": False, "reports": 100, **more})]


def cohorts(*sizes: int) -> list[Cell]:
    return [Cell(0, cohort, size, 0, {2: {cohort: size}}) for cohort, size in enumerate(sizes)]


def year_survey(options: int, **changes: object) -> Survey:
    questions = document()["questions"]
    questions[2]["choices"] = [{"name": f"c{i}", "label": {"en": f"C{i}"}} for i in range(options)]
    return survey(questions=questions, **changes)


def kinds(results: SurveyResults, invited: int | None = None) -> list[str]:
    return [alarm.kind for alarm in alarms(results, invited)]


def test_analyse_gives_one_estimate_for_yes_and_one_per_option() -> None:
    """30 yes of 100 under the coin flip is 10 %, and the interval reaches to 30.2 %."""
    results = analyse(one(CELLS))
    yes = results.questions[0].estimates[0]

    assert [len(question.estimates) for question in results.questions] == [1, 3, 0]
    assert (yes.option, round(yes.raw or 0, 12), yes.low, round(yes.high, 4)) == ("yes", 0.1, 0.0, 0.3021)
    assert sum(estimate.raw or 0 for estimate in results.questions[1].estimates) == pytest.approx(1)


@pytest.mark.parametrize("more", [{"closed": True}, {"was_closed": True}, {}])
def test_analyse_shows_a_public_answer_without_epsilon(more: dict[str, bool]) -> None:
    """Before the first close a small cohort is not shown yet, and its share would be 0."""
    [counts] = one(CELLS)
    public = analyse([replace(counts, stored=replace(counts.stored, **more))]).questions[2]

    assert public.epsilon is None
    assert [estimate.raw for estimate in public.estimates] == ([0.6, 0.4] if more else [])


def test_analyse_without_reports_says_nothing() -> None:
    estimate = analyse(one([])).questions[0].estimates[0]

    assert (estimate.raw, estimate.std_error, estimate.low, estimate.high) == (None, None, 0.0, 1.0)


@pytest.mark.parametrize(
    ("sizes", "groups"),
    [
        ((50, 40, 30), ["c0", "c1", "c2"]),
        ((50, 4, 30), ["c0", "c2, c1"]),
        ((50, 3, 4), ["c0", "c1, c2"]),
        ((50, 0, 30), ["c0", "c2"]),
        ((4, 0, 0), []),
        ((0, 0, 0), []),
        ((2, 1, 50), ["c0, c1, c2"]),
        ((5, 5, 5), ["c0", "c1", "c2"]),
    ],
)
def test_cohorts_under_five_are_merged(sizes: tuple[int, ...], groups: list[str]) -> None:
    """No group that one may ask for has fewer than five respondents."""
    found = cohort_groups(year_survey(3), [cohorts(*sizes)])

    assert [set(group.name.split(", ")) for group in found] == [set(name.split(", ")) for name in groups]
    assert all(group.reports >= 5 for group in found)


@pytest.mark.parametrize(
    ("parts", "groups"),
    [
        # Alone everywhere, though one wave has none of it.
        (((50, 40, 30), (9, 0, 5)), ["c0", "c1", "c2"]),
        # Enough in all, and a handful in one wave or revision: with the others that are small somewhere.
        (((50, 40, 30), (9, 3, 4)), ["c0", "c1, c2"]),
        # Together still a handful there: with the smallest of the rest.
        (((50, 40, 30), (9, 8, 4)), ["c0", "c1, c2"]),
        (((50, 10, 30), (9, 0, 4)), ["c0, c1, c2"]),
        # The whole is a handful there: no cohort can be told from it.
        (((50, 40, 30), (0, 0, 4)), []),
    ],
)
def test_cohorts_stand_alone_in_every_view_or_in_none(parts: Sequence[tuple[int, ...]], groups: list[str]) -> None:
    """Over waves and over revisions; what one view joins, no other view tells apart."""
    asked = year_survey(3)
    of_waves = [replace(cell, wave=wave) for wave, sizes in enumerate(parts) for cell in cohorts(*sizes)]
    for revisions in ([of_waves], [cohorts(*sizes) for sizes in parts]):
        found = cohort_groups(asked, revisions)
        assert sorted(group.name for group in found) == groups
    watched = year_survey(3, waves=months(2))
    shown = [counted(watched, *of_waves, closed=False, reports=100)]
    seen = [analyse(shown, wave=wave).cohorts for wave in (None, 0, 1)]
    assert [sorted(group.name for group in each) for each in seen] == [groups] * 3
    assert all(group.reports == 0 or group.reports >= 5 for each in seen for group in each)


def test_first_close_settles_which_cohorts_stand_alone() -> None:
    """What comes after a reopening joins or parts none of them, or it would be told by subtracting."""
    closed = [replace(cell, at_close=cell.reports) for cell in cohorts(50, 4, 30)]
    grown = [replace(cell, reports=cell.reports + more) for cell, more in zip(closed, (0, 25, 50), strict=True)]

    assert [group.name for group in cohort_groups(year_survey(3), [closed])] == ["c0", "c1, c2"]
    assert [group.name for group in cohort_groups(year_survey(3), [grown])] == ["c0", "c1, c2"]
    later = Cell(1, 1, 25, 0, {2: {1: 25}})
    assert [group.name for group in cohort_groups(year_survey(3), [[*grown, later]])] == ["c0", "c1, c2"]


def test_number_of_reports_so_far_moves_in_batches_until_close() -> None:
    """Nobody who watches it sees a single report come or go; and it is never less than what is shown."""

    def received(reports: int, closed: bool, shown: int) -> int:
        return analyse(one([Cell(0, ALL, shown, 0, {})], closed=closed, reports=reports)).received

    assert [received(reports, False, 0) for reports in (0, 24, 25, 49, 50)] == [0, 0, 25, 25, 50]
    assert received(24, False, 25) == 25
    assert received(49, True, 49) == 49


def test_analyse_tells_how_many_reports_are_shown_and_withdrawn() -> None:
    """Each figure by itself, for all and for a cohort; what has come so far is the survey's own figure."""
    shown = [Cell(0, ALL, 60, 7, {}), Cell(0, 0, 40, 5, {}), Cell(0, 1, 20, 2, {})]
    found = [analyse(one(shown), cohort) for cohort in (None, "first", "second")]

    assert [(each.reports, each.withdrawn) for each in found] == [(60, 7), (40, 5), (20, 2)]
    assert {each.received for each in found} == {100}


@pytest.mark.parametrize(
    ("chosen", "told"), [({"cohort": "sentinel"}, "no such cohort"), ({"interval": "sentinel"}, "score-cc")]
)
def test_analyse_refuses_what_it_does_not_know_without_repeating_it(chosen: dict[str, str], told: str) -> None:
    """The message names no submitted value, and the intervals that there are."""
    with pytest.raises(EstimateError, match=told) as refused:
        analyse(one(CELLS), **chosen)  # type: ignore[arg-type]
    assert "sentinel" not in str(refused.value)


@pytest.mark.parametrize("cells", [CELLS, []])
def test_export_validates_against_its_schema(cells: list[Cell]) -> None:
    exported = export_document(analyse(one(cells)))

    validate("export", exported)
    assert "report_id" not in json.dumps(exported)


def revision(number: int, yes: int, n: int, procedure: str | None = None, **changes: object) -> RevisionCounts:
    """A revision of a one-question survey, with ``yes`` of ``n`` reports; of own tosses with a procedure."""
    privacy = None if procedure is None else {"procedure": procedure}
    asked = survey(revision=number, questions=[{**document()["questions"][0], **changes}], privacy=privacy)
    return counted(asked, Cell(0, ALL, n, 0, {0: {0: n - yes, 1: yes}}), reports=n)


def test_equal_questions_of_several_revisions_add_their_counts() -> None:
    results = analyse([revision(1, 10, 40), revision(2, 20, 60, label={"en": "Cheated, ever?"})])
    alone = analyse([revision(1, 30, 100)])

    assert (results.reports, results.received, results.survey.revision) == (100, 100, 2)
    assert results.questions[0].tally == {0: 70, 1: 30}
    assert results.questions[0].estimates == alone.questions[0].estimates


def test_changed_mechanisms_are_pooled_by_variance_and_not_by_counts() -> None:
    """Coin flip, then Warner: one share from both, more precise than either."""
    warner = {"name": "warner", "truth": "2/3"}
    results = analyse([revision(1, 105, 300), revision(2, 280, 700, mechanism=warner)])
    parts = [analyse([part]).questions[0].estimates[0] for part in
             (revision(1, 105, 300), revision(1, 280, 700, mechanism=warner))]  # fmt: skip
    pooled = results.questions[0].estimates[0]

    assert (pooled.method, pooled.n) == ("pooled", 1000)
    assert pooled.std_error < min(part.std_error or 1 for part in parts)


def test_a_question_with_other_options_starts_afresh() -> None:
    """Counts of another question under the same name are not mixed in."""
    other = {"type": "select_one", "choices": [{"name": n, "label": {"en": n}} for n in ("no", "maybe")],
             "mechanism": {"name": "kary_rr", "odds": "3"}}  # fmt: skip
    results = analyse([revision(1, 10, 40), revision(2, 20, 60, **other)])

    assert results.questions[0].n == 60


@pytest.mark.parametrize("interval", ["score-cc", "wilson", "exact", "fixed-population"])
def test_interval_may_be_chosen(interval: str) -> None:
    exported = export_document(analyse(one(CELLS), interval=interval))

    assert exported["questions"][1]["estimates"][0]["method"] == interval


def test_questions_with_another_fixed_absence_start_afresh() -> None:
    """A share that counts the absent as no is another share than one that counts them as yes."""
    revisions = [revision(1, 10, 40), revision(2, 20, 60, when_absent="no"), revision(3, 5, 50, when_absent="yes")]

    assert [analyse(revisions[: last + 1]).questions[0].n for last in range(3)] == [40, 60, 50]


def test_own_coins_are_shown_with_what_self_protection_would_mean() -> None:
    """24 % yes of a coin flip is -2 %; if a fifth of the reports were a mere no, it is the 10 % of the table."""
    result = analyse([revision(1, 240, 1000, "own_coin")]).questions[0]

    assert [share for share, _ in result.protection] == [0.0, 0.05, 0.1, 0.2]
    assert result.protection[0][1] == result.estimates[0]
    assert [round(estimate.raw or 0, 3) for _, estimate in result.protection] == [-0.02, 0.005, 0.033, 0.1]


def test_self_protection_is_asked_of_reports_by_hand_only() -> None:
    """The device's own tosses cannot be bypassed, and its reports are not mixed in."""
    assert analyse([revision(1, 240, 1000, "device")]).questions[0].protection == ()
    own = revision(2, 240, 1000, "own_coin")
    both, alone = (analyse(each).questions[0] for each in ([revision(1, 400, 1000, "device"), own], [own]))

    assert both.n == 2000
    assert both.protection == alone.protection


def test_export_tells_absence_and_self_protection() -> None:
    """Whoever reads the file alone must know what the figures contain."""
    fixed = export_document(analyse([revision(1, 10, 40, when_absent="no")]))
    tossed = export_document(analyse([revision(1, 240, 1000, "own_coin")]))

    assert fixed["questions"][0]["when_absent"] == "no"
    assert tossed["questions"][0]["protection"][3]["share"] == 0.2
    for exported in (fixed, tossed):
        validate("export", exported)


def test_forged_reports_choose_their_question() -> None:
    """One of ten coins asked of each: 1 % of all reports, all on one question, move it by 13.8 points, not 1.5."""
    coin = document()["questions"][0]
    asked = survey(questions=[{**coin, "name": f"q{number}"} for number in range(10)], ask=1)
    cell = Cell(0, ALL, 1000, 0, {index: {0: 70, 1: 30} for index in range(10)})
    yes = analyse([counted(asked, cell, reports=1000)]).questions[3].estimates[0]

    assert yes.poisoning == pytest.approx(1.5 * 0.01 / (0.01 + 0.99 / 10))
    assert round(yes.poisoning, 3) == 0.138


def test_waves_added_up_allow_for_the_same_people() -> None:
    """Where each wave asks other people, nothing hangs together: the interval of as many reports, and the band."""
    cells = [Cell(wave, ALL, 100, 0, {0: {0: 70, 1: 30}}) for wave in (0, 1)]
    same, fresh = (
        counted(survey(waves=months(2), **more), *cells, closed=False, reports=200)
        for more in ({}, {"fresh_samples": True})
    )
    added, single, others = analyse([same]), analyse([same], wave=0), analyse([fresh])
    both, one, apart = (each.questions[0].estimates[0] for each in (added, single, others))

    assert (added.same_people, single.same_people, others.same_people) == (True, False, False)
    assert (both.n, both.method, both.band_low) == (200, "same-people", None)
    assert (one.method, one.band_low is None) == (apart.method, apart.band_low is None) == ("score-cc", False)
    assert both.std_error == pytest.approx((0.3 * 0.7 / 199 / 0.25 + 0.1 * 0.9 / 200) ** 0.5)


@pytest.mark.parametrize(("first", "second", "rings"), [(50, 50, []), (60, 40, []), (90, 10, ["asked"])])
def test_uneven_draw_of_questions_rings(storage: SQLiteStorage, first: int, second: int, rings: list[str]) -> None:
    """Chance draws 60 of 100 now and then, and never 90."""
    answered(storage, survey(ask=1), [(1, None, 0)] * first + [(None, number % 3, 0) for number in range(second)])
    results = analyse(revisions_of(storage, "exam"))
    # Only the draw is looked at here.
    calm = tuple(replace(each, estimates=()) for each in results.questions)
    assert kinds(replace(results, questions=calm)) == rings


@pytest.mark.parametrize(("more", "rings"), [(0, []), (150, ["asked"])])
def test_draw_of_questions_is_looked_at_where_everybody_is_asked(
    storage: SQLiteStorage, more: int, rings: list[str]
) -> None:
    """A public answer hides one of them from most people: its count is of those who were asked, and tells no draw."""
    cheated, reason, year = document()["questions"]
    hidden = {**cheated, "name": "hidden", "visible_if": {"year": "second"}, "when_absent": "no"}
    pairs = [(0, 1, None, 0), (1, 0, None, 0), (0, None, 1, 1), (0, None, 2, 0), (0, 1, 0, None), (1, 0, 2, None)]
    asked = survey(ask=2, questions=[{**year, "in_files": True}, cheated, reason, hidden])
    answered(storage, asked, pairs * 60 + [(0, 1, None, 0)] * more)
    results = analyse(revisions_of(storage, "exam"))

    assert [each.n for each in results.questions] == [360 + more, 240 + more, 240, 60]
    # One report in a hundred that is forged with the public answer for which the question is asked.
    _, cheated, _, rare = results.questions
    assert cheated.estimates[0].poisoning == pytest.approx(1.5 * 0.01 / (0.01 + 0.99 * 2 / 3))
    assert rare.estimates[0].poisoning == pytest.approx(1.5 * 0.01 / (0.01 + 0.99 * 60 / (360 + more)))
    calm = tuple(replace(each, estimates=()) for each in results.questions)
    assert kinds(replace(results, questions=calm)) == rings
    # Public answers of which no exact counts are shown are not among the results.
    assert kinds(replace(results, questions=calm[1:])) == rings


@pytest.mark.parametrize(("forged", "rings"), [(0, []), (40, ["drawn"])])
def test_uneven_draw_of_options_rings(storage: SQLiteStorage, forged: int, rings: list[str]) -> None:
    """Whoever forges reports draws the same option each time."""
    which = [question for question in every_type() if question["name"] == "which"]
    honest = [(number % 12, 0, 0) for number in range(120)]
    reports = honest + [(number % 2, 0, 0) for number in range(forged)]
    answered(storage, survey(questions=[*which, *document()["questions"][1:]]), reports)

    assert [kind for kind in kinds(analyse(revisions_of(storage, "exam"))) if kind != "implausible"] == rings


def test_more_reports_than_people_ring(storage: SQLiteStorage) -> None:
    """In the steps in which reports are counted, and not without a number of people."""
    storage.publish(survey())
    send(storage, survey(), [(number % 2, number % 3, 0) for number in range(60)])
    results = analyse(revisions_of(storage, "exam"))

    assert kinds(results, 49) == ["more"]
    assert kinds(results, 60) == []
    assert kinds(results) == []


@pytest.mark.parametrize(
    ("second", "told"), [(40, []), (60, ["Wave 1: There are 60 reports, more than the 50 people"])]
)
def test_reports_of_a_wave_are_held_against_people(storage: SQLiteStorage, second: int, told: list[str]) -> None:
    """Of a panel everybody answers in each wave: all reports together are more than the people, and rightly so."""
    asked = survey(waves=months(2))
    storage.publish(asked)
    for wave, count in enumerate((50, second)):
        send(storage, asked, [(number % 2, number % 3, 0) for number in range(count)], wave)
    storage.close_survey("exam", TODAY)
    results = analyse(revisions_of(storage, "exam"))

    found = [alarm_in_words(alarm, results, 50, Words("en")) for alarm in alarms(results, 50)]
    assert [text[: len(part)] for text, part in zip(found, told, strict=True)] == told


COIN = {"type": "boolean", "name": "cheated", "label": {"en": "Cheated?"}, "mechanism": {"name": "coin_flip"}}
MOON = {"type": "boolean", "name": "moon", "label": {"en": "Moon?"}, "public": True, "anchor": True, "known_share": "0"}
AGE = {"type": "integer", "name": "age", "label": {"en": "Age?"}, "min": 18, "max": 99, "public": True}
TALLIES = {0: {0: 675, 1: 325}, 1: {0: 950, 1: 50}}
"""Of 1,000 people, 10 % are careless; 15 % of all, and so 11.1 % of the others, cheated."""


def asking(*questions: dict[str, Any], **changes: Any) -> Survey:
    return parse_survey(document(questions=list(questions), **changes))


def _counts(asked: Survey, tallies: dict[int, dict[int, int]] = TALLIES, **more: Any) -> RevisionCounts:
    n = sum(tallies[0].values())
    return counted(asked, Cell(0, ALL, n, 0, tallies), reports=n, **more)


def _corrected(found: SurveyResults, name: str = "cheated") -> list[float | None]:
    [result] = [each for each in found.questions if each.question.name == name]
    return [estimate.raw for estimate in result.corrected]


def test_corrected_share_is_beside_the_uncorrected_one() -> None:
    """In the results, the JSON export with its schema, the rows of files and the terminal's sentences."""
    found = analyse([_counts(asking(COIN, MOON))])
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
    asked = asking(COIN, MOON, AGE, hidden)
    found = analyse([_counts(asked, TALLIES | {2: {2: 1000}, 3: {0: 700, 1: 300}})])
    assert [bool(each.corrected) for each in found.questions] == [True, False, False, False]


@pytest.mark.parametrize(("changes", "closed"), [({}, False), ({}, True), ({"trial": True}, False)])
def test_open_surveys_wait_for_their_close(changes: dict[str, Any], closed: bool) -> None:
    """These limits hold for one look; test runs have invented answers."""
    found = analyse([_counts(asking(COIN, MOON, **changes), closed=closed)])
    assert (found.careless is not None) == (closed or "trial" in changes)
    assert bool(_corrected(found)) == (found.careless is not None)


@pytest.mark.parametrize(
    "counts",
    [
        # Its exact count would follow from the corrected shares.
        _counts(asking(COIN, MOON), withheld=frozenset({"moon"})),
        # Files of reports leave out rare public answers, which are those of careless people.
        _counts(asking(COIN, MOON), {0: TALLIES[0], 1: {0: 997}}),
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
    first, second = asking(COIN), asking(COIN, MOON, revision=2)
    found = analyse([_counts(first, {0: TALLIES[0]}), _counts(second)])
    assert (found.careless.n, found.questions[0].corrected[0].n) == (1000, 2000)
    assert _corrected(found) == pytest.approx([(0.15 - 0.05) / 0.9])


def test_anchor_of_a_later_revision_counts_earlier_answers_too() -> None:
    """The same question was asked before it was called an anchor."""
    plain = {key: value for key, value in MOON.items() if key not in {"anchor", "known_share"}}
    found = analyse([_counts(asking(COIN, plain)), _counts(asking(COIN, MOON, revision=2))])
    assert found.careless.n == 2000


def _of_waves(**changes: Any) -> list[RevisionCounts]:
    """Two waves of 1,000 people of one cohort, of whom 4 % and 20 % are careless."""
    asked = asking(COIN, MOON, document()["questions"][2], waves=months(2), **changes)
    tallies = {0: {0: 700, 1: 300}, 1: {0: 980, 1: 20}}, {0: {0: 675, 1: 325}, 1: {0: 900, 1: 100}}
    cells = [
        Cell(wave, cohort, 1000, 0, {**of_wave, 2: {0: 1000}})
        for wave, of_wave in enumerate(tallies)
        for cohort in (ALL, 0)
    ]
    return [counted(asked, *cells, reports=2000)]


def test_waves_and_cohorts_have_their_own_careless_people() -> None:
    found = [analyse(_of_waves(), wave=wave) for wave in (0, 1, None)]
    of_group = analyse(_of_waves(), cohort="first", wave=1)
    shares = [view.careless.raw for view in (*found, of_group) if view.careless]
    assert shares == pytest.approx([0.04, 0.2, 0.12, 0.2])


def test_corrected_shares_of_waves_allow_for_the_same_people() -> None:
    """Their variance is twice that of waves with other people each."""
    same, fresh = (analyse(_of_waves(**changes)).questions[0].corrected[0] for changes in ({}, {"fresh_samples": True}))
    assert same.raw == pytest.approx(fresh.raw)
    assert (same.std_error or 0) == pytest.approx(2**0.5 * (fresh.std_error or 0))


def test_declining_counts_as_an_option_shown() -> None:
    """Three options: 10 % careless people say yes at a third, and decline at a third."""
    ways = {"absent_category": True}
    asked = asking({**COIN, **ways, "mechanism": {"name": "kary_rr", "odds": "3"}}, {**MOON, **ways})
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
    asked, all_asked = asking(COIN, anchor, ask=1), asking(COIN, anchor)
    tallies = {0: {0: 650, 1: 350}, 1: {0: 700, 1: 300}}
    apart, together = (
        analyse([_counts(each, tallies)]).questions[0].corrected[0].std_error or 0 for each in (asked, all_asked)
    )
    assert apart > together


ADDED = {"title", "dates", "version", "trial", "journal"}


CLASS = 30


@pytest.fixture
def school(storage: SQLiteStorage) -> SQLiteStorage:
    answered(storage, survey(), [(int(n % 3 > 0), n % 3, n % 2) for n in range(CLASS)])
    return storage


def known(storage: SQLiteStorage, people: int = CLASS, **chosen: object) -> tuple[Population, SurveyResults]:
    revisions = revisions_of(storage, "exam")
    results = analyse(revisions, **chosen)  # type: ignore[arg-type]
    return group_of(revisions, results, people), results


def test_class_that_has_answered_is_counted(school: SQLiteStorage) -> None:
    """Each option of a private question has its people, with the limits of exactly these."""
    group, results = known(school)
    (yes,) = results.questions[0].estimates

    assert group.refused == ""
    assert group.count(yes) == people_count(20, CLASS, 0.75, 0.25)


@pytest.mark.parametrize(
    ("people", "chosen", "reason"), [(29, {}, "number"), (31, {}, "number"), (15, {"cohort": "first"}, "cohort")]
)
def test_other_number_or_part_of_the_class_is_not_counted(
    school: SQLiteStorage, people: int, chosen: dict[str, str], reason: str
) -> None:
    """Somebody would be missing, or stand for more than one."""
    group, results = known(school, people, **chosen)

    assert group.refused == reason
    assert group.count(results.questions[0].estimates[0]) is None


def test_open_survey_is_not_counted(storage: SQLiteStorage) -> None:
    """Whoever has not answered yet is missing."""
    storage.publish(survey())
    send(storage, survey(), [(1, 2, 0)] * 25)

    assert known(storage, 25)[0].refused == "open"


def test_report_taken_back_leaves_the_class_uncounted(storage: SQLiteStorage) -> None:
    """Before the close or after it: not everybody's answer is there, or is meant to be."""
    key = storage.publish(survey()).key
    storage.store([arrival(key, number) for number in range(31)])
    storage.withdraw(plan(key), identity(0))
    storage.close_survey("exam", 20_000)

    assert known(storage)[0].refused == "withdrawn"


def test_several_revisions_are_not_counted(school: SQLiteStorage) -> None:
    """One person may have answered both."""
    (old,) = revisions_of(school, "exam")
    stored = replace(old.stored, revision=2)
    twice = [old, RevisionCounts(stored, old.survey, old.cells)]
    results = analyse(twice)

    assert group_of(twice, results, results.reports).refused == "revisions"


def test_waves_added_up_are_not_counted_and_one_of_them_is_by_its_own_reports(storage: SQLiteStorage) -> None:
    """The same people answer in each."""
    asked = survey(waves=months(2))
    storage.publish(asked)
    send(storage, asked, [(1, 2, 0)] * 30)
    answered(storage, asked, [(1, 2, 0)] * 30, wave=1)

    assert known(storage, 60)[0].refused == "waves"
    assert known(storage, 30, wave=1)[0].refused == ""


def test_question_that_only_some_were_asked_is_not_counted(storage: SQLiteStorage) -> None:
    answered(storage, survey(ask=1), [(1, None, 0) if n % 2 else (None, 1, 0) for n in range(CLASS)])
    group, results = known(storage)

    assert group.refused == ""
    assert [group.count(each) for result in results.questions[:2] for each in result.estimates] == [None] * 4
    assert group.count(results.questions[2].estimates[0]) is not None


def test_group_beyond_the_exact_sums_is_not_counted(school: SQLiteStorage) -> None:
    """There the difference to a sample no longer matters."""
    revisions = revisions_of(school, "exam")
    results = analyse(revisions)
    many = replace(results, reports=MOST + 1, waves=(MOST + 1,), received=MOST + 1)
    (revision,) = revisions
    known = replace(revision, stored=replace(revision.stored, reports=MOST + 1))

    assert group_of([known], many, MOST + 1).refused == "large"


def test_file_tells_the_people_where_they_are_counted(school: SQLiteStorage) -> None:
    """In the published form, which has them nowhere else."""
    group, results = known(school)
    told = export_document(results, group=group)["questions"][0]["estimates"][0]["people"]

    assert told == {"people": 25, "low": told["low"], "high": told["high"], "of": CLASS}
    assert "people" not in export_document(results)["questions"][0]["estimates"][0]


def exported(asked: Survey, journal: ChainHead | None = None) -> dict[str, object]:
    return export_document(analyse([counted(asked, closed=False)]), journal)


def test_export_says_title_dates_version_and_labels() -> None:
    known = exported(survey(title={"en": "Exams", "de": "Prüfungen"}, closes="2026-06-01T00:00:00Z"))
    questions = known["questions"]

    assert known["title"] == {"en": "Exams", "de": "Prüfungen"}
    assert known["dates"] == {"opens": None, "closes": "2026-06-01T00:00:00Z", "waves": []}
    assert known["version"] == version("sottovoce")
    assert isinstance(questions, list)
    assert questions[0]["label"] == {"en": "Cheated?"}
    assert "options" not in questions[0]
    assert questions[1]["options"] == {name: {"en": name.title()} for name in ("time", "fear", "fun")}


def test_export_of_a_try_out_says_so_first() -> None:
    assert next(iter(exported(survey(trial=True)).items())) == ("trial", True)
    assert "trial" not in exported(survey())


def test_schema_knows_what_was_added_and_asks_for_none_of_it() -> None:
    """An export of before it is as good as ever; of every type and mechanism, of waves, of a try-out."""
    for asked in (survey(), survey(questions=every_type(), trial=True, waves=None), survey(waves=months(2))):
        document = exported(asked, ChainHead(3, bytes(32)))
        assert document["journal"] == f"3:{'0' * 64}"
        for each in (document, {key: value for key, value in document.items() if key not in ADDED}):
            validate("export", each)
