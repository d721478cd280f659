"""What the JSON export says of the survey beside its figures; programs that know none of it read on as before."""

from dataclasses import replace
from importlib.metadata import version

import pytest
from sottovoce.aggregator.analysis.estimates import RevisionCounts, SurveyResults, analyse
from sottovoce.aggregator.analysis.published_counts import revisions_of
from sottovoce.aggregator.analysis.results_document import Population, export_document, group_of
from sottovoce.aggregator.estimators.fixed_population import MOST, people_count
from sottovoce.aggregator.storage.hash_chain import ChainHead
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.spec import Survey

from tests.exported import answered, counted, send
from tests.storage.test_contract import arrival, identity, plan
from tests.surveys import every_type, months, survey
from tests.unit.shared.test_schema import validate

ADDED = {"title", "dates", "version", "trial", "journal"}


CLASS = 30


@pytest.fixture
def school(storage: SQLiteStorage) -> SQLiteStorage:
    """A database with the reports of a class, two thirds of whom say yes, and the survey closed."""
    answered(storage, survey(), [(int(n % 3 > 0), n % 3, n % 2) for n in range(CLASS)])
    return storage


def found(storage: SQLiteStorage, people: int = CLASS, **chosen: object) -> tuple[Population, SurveyResults]:
    """Whether the class is known to have answered, and the results."""
    revisions = revisions_of(storage, "exam")
    results = analyse(revisions, **chosen)  # type: ignore[arg-type]
    return group_of(revisions, results, people), results


def test_class_that_has_answered_is_counted(school: SQLiteStorage) -> None:
    """Each option of a private question has its people, with the limits of exactly these."""
    group, results = found(school)
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
    group, results = found(school, people, **chosen)

    assert group.refused == reason
    assert group.count(results.questions[0].estimates[0]) is None


def test_open_survey_is_not_counted(storage: SQLiteStorage) -> None:
    """Whoever has not answered yet is missing."""
    storage.publish(survey())
    send(storage, survey(), [(1, 2, 0)] * 25)

    assert found(storage, 25)[0].refused == "open"


def test_report_taken_back_leaves_the_class_uncounted(storage: SQLiteStorage) -> None:
    """Before the close or after it: not everybody's answer is there, or is meant to be."""
    key = storage.publish(survey()).key
    storage.store([arrival(key, number) for number in range(31)])
    storage.withdraw(plan(key), identity(0))
    storage.close_survey("exam", 20_000)

    assert found(storage)[0].refused == "withdrawn"


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

    assert found(storage, 60)[0].refused == "waves"
    assert found(storage, 30, wave=1)[0].refused == ""


def test_question_that_only_some_were_asked_is_not_counted(storage: SQLiteStorage) -> None:
    """Of two questions each device draws one."""
    answered(storage, survey(ask=1), [(1, None, 0) if n % 2 else (None, 1, 0) for n in range(CLASS)])
    group, results = found(storage)

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
    group, results = found(school)
    told = export_document(results, group=group)["questions"][0]["estimates"][0]["people"]

    assert told == {"people": 25, "low": told["low"], "high": told["high"], "of": CLASS}
    assert "people" not in export_document(results)["questions"][0]["estimates"][0]


def exported(asked: Survey, journal: ChainHead | None = None) -> dict[str, object]:
    return export_document(analyse([counted(asked, closed=False)]), journal)


def test_export_says_title_dates_version_and_labels() -> None:
    """In every language that the survey has."""
    found = exported(survey(title={"en": "Exams", "de": "Prüfungen"}, closes="2026-06-01T00:00:00Z"))
    questions = found["questions"]

    assert found["title"] == {"en": "Exams", "de": "Prüfungen"}
    assert found["dates"] == {"opens": None, "closes": "2026-06-01T00:00:00Z", "waves": []}
    assert found["version"] == version("sottovoce")
    assert isinstance(questions, list)
    assert questions[0]["label"] == {"en": "Cheated?"}
    assert "options" not in questions[0]
    assert questions[1]["options"] == {name: {"en": name.title()} for name in ("time", "fear", "fun")}


def test_export_of_a_try_out_says_so_first() -> None:
    """And no other does."""
    assert next(iter(exported(survey(trial=True)).items())) == ("trial", True)
    assert "trial" not in exported(survey())


def test_schema_knows_what_was_added_and_asks_for_none_of_it() -> None:
    """An export of before it is as good as ever; of every type and mechanism, of waves, of a try-out."""
    for asked in (survey(), survey(questions=every_type(), trial=True, waves=None), survey(waves=months(2))):
        document = exported(asked, ChainHead(3, bytes(32)))
        assert document["journal"] == f"3:{'0' * 64}"
        for each in (document, {key: value for key, value in document.items() if key not in ADDED}):
            validate("export", each)
