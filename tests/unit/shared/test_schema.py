"""The JSON Schemas say what the code does: both accept the same documents and refuse the same mistakes."""

import json
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any

import jsonschema
from sottovoce.aggregator.http.problems import STATUS, document
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.client.draws import Draws
from sottovoce.client.respondent import encode, randomize
from sottovoce.demo.run import demo_survey
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.redemption import spell_modulus
from sottovoce.shared.report import dump_report, receipt

from tests import documents, surveys
from tests.absences import COIN, KARY, absences, asks, items
from tests.surveys import ANSWERS
from tests.vectors.cases import GOOD, bad_questions
from tests.vectors.items import own_coin_survey


@cache
def validator(name: str) -> Any:
    schema = json.loads(files("sottovoce.shared").joinpath(f"schema/{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def validate(name: str, document: Any) -> None:
    """Check a document against one of our schemas, as other programs read it."""
    validator(name).validate(json.loads(json.dumps(dict(document), allow_nan=False)))


def test_survey_schema_accepts_files_and_their_canonical_form() -> None:
    """What is shipped, as written and as published."""
    for package in ("survey.yaml", "sample.yaml"):
        text = files("sottovoce.demo").joinpath(package).read_bytes()
        validator("survey").validate(parse_yaml(text))
    for survey in (demo_survey(), surveys.survey(), absences(report_labels="neutral"), own_coin_survey()):
        validator("survey").validate(json.loads(survey.canonical))
    validator("survey").validate(documents.survey(*items()))
    blind = parse_survey(surveys.document(access={"blind": [spell_modulus(2**2047 + 1)]}))
    for each in (surveys.document(access="blind"), json.loads(blind.canonical)):
        validator("survey").validate(each)


def test_survey_schema_accepts_every_mechanism() -> None:
    for asked, _ in chain(*GOOD.values()):
        validator("survey").validate(documents.survey(asked))
        validator("survey").validate(parse_survey(documents.survey(asked)).document)


def test_schema_catches_mistakes_of_form_as_the_parser_does() -> None:
    for name in GOOD:
        wrong = bad_questions(name)
        assert [asked for asked in wrong if not _is_refused(documents.survey(asked))] == []
        assert not all(validator("survey").is_valid(documents.survey(asked)) for asked in wrong), name

    written = [(mistake, surveys.document(**mistake)) for mistake in MISTAKES]

    assert [mistake for mistake, document in written if validator("survey").is_valid(document)] == []
    assert [mistake for mistake, document in written if not _is_refused(document)] == []


def _is_refused(document: dict[str, Any]) -> bool:
    try:
        parse_survey(document)
    except SpecError:
        return True
    return False


MISTAKES: list[dict[str, Any]] = [
    {"format": "x"},
    {"name": "No"},
    {"revision": 0},
    {"revision": True},
    {"default_language": "english!"},
    {"title": {"en": "Exams", "EN": "Exams"}},
    {"title": {"en": "Exams", "en_GB": "Exams"}},
    {"title": {"en": "Exams", "en-AB-CD": "Exams"}},
    {"title": {"en": "Exams", "zh-hans": "Exams"}},
    {"title": {"en": "Exams", "x-klingon": "Exams"}},
    {"title": "Exams"},
    {"title": {}},
    {"extra": 1},
    {"trial": False},
    {"trial": "yes"},
    {"replaces": "0" * 64},
    {"revision": 2, "replaces": "0" * 63},
    {"revision": 2, "replaces": "A" * 64},
    {"revision": 2, "replaces": ["0" * 64]},
    {"opens": "tomorrow"},
    {"access": "everybody"},
    {"waves": []},
    {"waves": [{"opens": "2026-01-01T00:00:00Z"}]},
    {"waves": [{"opens": "2026-01-01T00:00:00Z", "closes": "soon"}]},
    {"waves": [{"opens": "2026-01-01T00:00:00Z", "closes": "2026-02-01T00:00:00Z"}], "opens": "2026-01-01T00:00:00Z"},
    {"ask": 0},
    {"ask": "1"},
    {"ask": True},
    {"privacy": {"release_batch": 0}},
    {"privacy": {"max_epsilon_total": 4}},
    {"privacy": {"procedure": "none"}},
    {"retention": {"ids_days": -1}},
    {"questions": []},
    {"questions": [{"type": "text", "name": "q", "label": {"en": "Q"}, "public": True}]},
    {"questions": [{"type": "boolean", "name": "q", "label": {"en": "Q"}}]},
    {"questions": [{"type": "boolean", "name": "q", "label": {"en": "Q"}, "public": False}]},
    {"questions": [{"type": "select_one", "name": "q", "label": {"en": "Q"}, "public": True}]},
    {"questions": [{"type": "boolean", "name": "q", "label": {"en": "Q"}, "mechanism": {"name": "warner"}}]},
    {"questions": [asks("integer", "q", min=0, max=3, mechanism={"name": "laplace"})]},
    {"questions": [asks("integer", "q", min=0, max=3, mechanism={"name": "laplace", "scale": "1"})]},
    {"questions": [asks("boolean", "q", mechanism={"name": "warner", "truth": "2/3", "epsilon": "1"})]},
    {"report_labels": "loud"},
    {"access": "blinds"},
    {"access": {"blind": []}},
    {"access": {"blind": ["A" * 341]}},
    {"access": {"token": True}},
    {"privacy": {"send_within_hours": 0}},
    {"privacy": {"send_at_seconds": 9}},
    {"after": {}},
    {"after": {"link": "http://help.example.org"}},
    {"researcher": {"institution": {"en": "Uni"}}},
    {"researcher": {"name": {"en": "A"}, "contact": "http://a.example/"}},
    {"researcher": {"name": {"en": "A"}, "contact": f"https://a.example/{'x' * 183}"}},
    {"notice": "Controller"},
    {"retention": {"delete_on": "31.3.2027"}},
    {"questions": [asks("boolean", "q", mechanism=COIN, when_absent=True)]},
    {"questions": [asks("boolean", "q", mechanism=KARY, absent_category=False)]},
    {"questions": [asks("boolean", "q", mechanism=KARY, absent_category=True, when_absent="no")]},
    {"questions": [asks("integer", "q", min=0, max=3, mechanism={"epsilon": "1"}, absent_category=True)]},
    {"questions": [asks("boolean", "p", public=True), asks("boolean", "q", mechanism=COIN, visible_if={"p": "yes"})]},
    {"questions": [asks("boolean", "p", public=True), asks("note", "n", visible_if={"p": []})]},
    {"questions": [asks("boolean", "p", public=True), asks("note", "n", mechanism=COIN)]},
    {"questions": [asks("matrix", "m", of={"type": "boolean", "mechanism": COIN})]},
    {"questions": [asks("matrix", "m", rows=documents.names(1), of={"type": "boolean"})]},
    {"questions": [asks("matrix", "m", rows=documents.names(1), of={"type": "vector", "public": True})]},
    {"questions": [asks("matrix", "m", rows=documents.names(1), of={"type": "boolean", "public": True, "hint": "H"})]},
]


def test_documents_on_the_wire_validate() -> None:
    survey = surveys.survey()
    report = randomize(survey, encode(survey, ANSWERS), Draws())
    body = dump_report(report, survey)

    validator("report").validate(json.loads(body))
    validator("receipt").validate(receipt(report, body))

    for code in STATUS:
        validator("problem").validate(json.loads(document(code, "detail", [{"pointer": "/x", "message": "y"}])))
    assert set(validator("problem").schema["properties"]["code"]["enum"]) == set(STATUS)

    body = dump_report(randomize(survey, encode(survey, ANSWERS), Draws()), survey)
    item = {"report": json.loads(body)}

    validator("batch").validate({"format": "sottovoce-batch/1", "items": [item, {**item, "token": "7" * 16}]})
    assert not validator("batch").is_valid({"format": "sottovoce-batch/1", "items": []})
    validator("withdraw").validate({"report_id": item["report"]["report_id"]})
