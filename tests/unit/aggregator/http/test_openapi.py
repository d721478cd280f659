import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from flask import Flask
from jsonschema import Draft202012Validator
from sottovoce.aggregator.analysis.requests import KINDS_OF_REQUEST, parse_request
from sottovoce.aggregator.app import ROUTES
from sottovoce.aggregator.http.openapi import EXAMPLES, NOT_DESCRIBED, address, survey_form
from sottovoce.aggregator.http.problem_docs import EXPLANATIONS
from sottovoce.aggregator.http.problems import STATUS, document as document_of
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.shared.errors import OptionsError
from sottovoce.shared.parse_survey import parse_survey

from tests import documents, surveys
from tests.absences import absences, items
from tests.problem_pages import PAGE, page
from tests.unit.aggregator.api.conftest import post, program_of
from tests.vectors.cases import GOOD
from tests.vectors.items import own_coin_survey


@pytest.fixture
def described(app: Flask) -> Any:
    return app.test_client().get("/openapi.json").json


def written() -> Iterator[dict[str, Any]]:
    yield documents.survey(*items())
    for survey in (surveys.survey(), absences(report_labels="neutral"), own_coin_survey()):
        yield json.loads(survey.canonical)
    for cases in GOOD.values():
        for asked, _ in cases:
            yield documents.survey(asked)
            yield dict(parse_survey(documents.survey(asked)).document)
    for file in files("sottovoce.aggregator.authoring").joinpath("templates").iterdir():
        document = parse_yaml(file.read_bytes())
        if "format" in document:
            yield document


def test_every_route_is_described_or_left_out_for_a_reason(app: Flask, described: Any) -> None:
    """The URL map against the description; only kinds on the short list are missing."""
    left_out = {route.endpoint for route in ROUTES if route.kind in NOT_DESCRIBED}
    mapped = {
        (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), method.lower())
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if rule.endpoint not in left_out
    }
    told = {(path, method) for path, at in described["paths"].items() for method in at if method != "parameters"}

    assert told == mapped
    left_out = [address(route) for route in ROUTES if route.kind in NOT_DESCRIBED]
    assert {path.split("/")[1] for path in left_out} == {"", "calendar", "empty", "s", "q", "assets", "dashboard"}


def test_example_of_a_body_is_a_good_one(app: Flask) -> None:
    """Whoever begins with the survey of the description publishes it as it is."""
    survey = EXAMPLES["survey-form"]
    reply = post(program_of(app), f"/api/v1/surveys/{survey['name']}/publish", survey)
    assert reply.status_code == 200, reply.json


def test_description_refers_to_what_it_holds_and_its_schemas_are_schemas(described: Any) -> None:
    for found in re.findall(r'"\$ref": "([^"]+)"', json.dumps(described)):
        part = described
        for key in found.removeprefix("#/").split("/"):
            part = part[key]
        # What makes programs of a description follows references to whole components only.
        assert re.fullmatch(r"#/components/\w+/[\w-]+", found)
    for name in described["components"]["schemas"]:
        Draft202012Validator.check_schema(described["components"]["schemas"][name])
    for path, at in described["paths"].items():
        for method, operation in at.items():
            if method != "parameters":
                given = [*at.get("parameters", []), *operation.get("parameters", [])]
                inside = {each["name"] for each in given if each["in"] == "path"}
                assert inside == set(re.findall(r"{(\w+)}", path)), path


def test_names_of_options_are_described_as_they_are_read(described: Any) -> None:
    described_names = 0
    for kind in KINDS_OF_REQUEST:
        for option, schema in described["components"]["schemas"][f"{kind.title()}Request"]["properties"].items():
            refused = {name for name in schema.get("enum", ()) if option in _mistaken(kind, {option: name})}
            assert not refused, (kind, option)
            assert "enum" not in schema or option in _mistaken(kind, {option: "unknown"})
            described_names += "careful" in schema.get("enum", ())
    assert described_names == 3


def _mistaken(kind: str, options: Any) -> set[str]:
    try:
        parse_request(kind, options)
    except OptionsError as error:
        return {each.pointer.lstrip("/") for each in error.problems}
    return set()


@pytest.mark.slow
def test_description_is_one_of_openapi(described: Any) -> None:
    """By the schema of OpenAPI 3.1, and by a library that reads every schema in it."""
    import jsonschema_rs
    import schemathesis

    schemathesis.openapi.from_dict(described).validate()
    for name in described["components"]["schemas"]:
        jsonschema_rs.validator_for({**described, "$ref": f"#/components/schemas/{name}"})


def test_description_says_why_reports_are_written_in_one_way(described: Any) -> None:
    """White space is refused, and whoever writes a client learns it and the reason before the first refusal."""
    told = described["info"]["description"]
    assert "canonical JSON: compact" in told
    assert "if an answer could be written in two ways, the choice could tell one device" in told


def test_description_is_not_sent_twice(app: Flask) -> None:
    client = app.test_client()
    tag = client.get("/openapi.json").headers["ETag"]
    assert client.get("/openapi.json", headers={"If-None-Match": tag}).status_code == 304


def test_type_of_each_problem_leads_to_its_page(app: Flask) -> None:
    """The page says the code, what happened and what to do, and needs no other file."""
    client = app.test_client()
    for code in STATUS:
        reply = client.get(json.loads(document_of(code))["type"])
        text = reply.get_data(as_text=True)
        assert (reply.status_code, reply.mimetype) == (200, "text/html"), code
        assert code in text
        assert EXPLANATIONS[code].happened.split("`")[0].split("'")[0] in text, code
        assert not re.search("<script|src=", text), code


def test_there_is_no_page_for_what_is_no_code(app: Flask) -> None:
    reply = app.test_client().get("/problems/<b>")
    assert reply.status_code == 404
    assert b"<b>" not in reply.get_data()


def test_documentation_says_the_same() -> None:
    """Written anew by ``python -m tests.problem_pages``."""
    assert Path(PAGE).read_text(encoding="utf-8") == page()


def test_every_survey_fits_the_form() -> None:
    """Which has no rule that a program cannot generate from."""
    form = survey_form()
    jsonschema.Draft202012Validator.check_schema(form)
    validator = jsonschema.Draft202012Validator(form)

    for document in written():
        validator.validate(document)
    text = json.dumps(form)
    assert not any(f'"{key}"' in text for key in ("if", "allOf", "dependentRequired", "unevaluatedProperties"))


def test_form_refuses_keys_of_another_type() -> None:
    question = {"type": "boolean", "name": "a", "label": {"en": "A?"}, "mechanism": {"name": "coin_flip"}}
    validator = jsonschema.Draft202012Validator(survey_form())

    assert validator.is_valid(documents.survey(question))
    assert not validator.is_valid(documents.survey({**question, "step": "1"}))
    assert not validator.is_valid(documents.survey({**question, "unknown": True}))
