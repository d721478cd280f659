"""What the JSON export says of the survey beside its figures; programs that know none of it read on as before."""

import json
from importlib.metadata import version
from importlib.resources import files

import jsonschema
from sottovoce.aggregator.analysis.estimates import RevisionCounts, analyse
from sottovoce.aggregator.analysis.results_document import export_document
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.storage.hash_chain import ChainHead
from sottovoce.shared.spec import Survey

from tests.surveys import every_type, months, survey

ADDED = {"title", "dates", "version", "trial", "journal"}
SCHEMA = json.loads(files("sottovoce.shared").joinpath("schema/export.schema.json").read_text())


def exported(asked: Survey, journal: ChainHead | None = None) -> dict[str, object]:
    """The export of a survey without reports."""
    stored = StoredSurvey(1, asked.name, asked.revision, asked.digest, asked.canonical, False, 0)
    return export_document(analyse([RevisionCounts(stored, asked, ())]), journal)


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
        jsonschema.validate(document, SCHEMA)
        older = {key: value for key, value in document.items() if key not in ADDED}
        jsonschema.validate(older, SCHEMA)
