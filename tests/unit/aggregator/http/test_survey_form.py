"""The form of a survey in the description of the API allows every survey that may be published."""

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import jsonschema
from sottovoce.aggregator.http.openapi import survey_form
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.shared.parse_survey import parse_survey

from tests import documents, surveys
from tests.absences import absences, items
from tests.vectors.cases import GOOD
from tests.vectors.items import own_coin_survey


def written() -> Iterator[dict[str, Any]]:
    """Surveys with every type, mechanism and kind of item, as an author writes them and as published."""
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
    """A question of each type has its own keys."""
    question = {"type": "boolean", "name": "a", "label": {"en": "A?"}, "mechanism": {"name": "coin_flip"}}
    validator = jsonschema.Draft202012Validator(survey_form())

    assert validator.is_valid(documents.survey(question))
    assert not validator.is_valid(documents.survey({**question, "step": "1"}))
    assert not validator.is_valid(documents.survey({**question, "unknown": True}))
