"""The reference of the survey file: up to date, and every example in it good."""

from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.shared.parse_survey import parse_survey

from tests.survey_reference import EXAMPLE, PAGE, page, question_keys, survey_keys

SECTIONS = EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))
BASE = """
format: sottovoce-survey/1
name: exam
revision: 1
default_language: en
title: {en: Exams}
questions: [{type: boolean, name: q, label: {en: Q}, mechanism: {name: coin_flip}}]
"""


def test_page_is_what_schema_and_examples_make_of_every_key() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()

    assert [name for name, _ in SECTIONS] == [*(name for name, _ in survey_keys()), *question_keys()]


def test_every_example_is_a_part_of_a_good_survey() -> None:
    base = parse_yaml(BASE.encode())
    assert isinstance(base, dict)
    for name, example in SECTIONS:
        written = parse_yaml(example.encode())
        part = {"questions": written} if isinstance(written, list) else written
        assert isinstance(part, dict), name

        assert parse_survey({**base, **part}).questions, name
        assert f"{name.rpartition('.')[2]}:" in example
