from pathlib import Path

import pytest
from sottovoce.aggregator.surveys.survey_file import parse_yaml, read_survey_file
from sottovoce.shared.errors import SpecError


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: yes", "line 1, column 4: yes, no, on and off"),
        ("- No", "yes, no, on and off"),
        ("no: 1", "yes, no, on and off"),
        ("a: 1\na: 2", "line 2, column 1: this key was used before"),
        ("a: &x 1\nb: *x", "anchors"),
        ("1: a", "a key must be text"),
        ("a: [", "line 1"),
        ("a: !!python/object/apply:os.system [x]", "not valid YAML"),
        ("\x00", "not valid YAML"),
        ("[" * 2000, "not valid YAML"),
    ],
)
def test_parse_yaml_refuses_traps_with_their_place(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        parse_yaml(text.encode())


def test_parse_yaml_keeps_numbers_and_dates_as_text_and_reads_json() -> None:
    """With an emoji of two escapes."""
    expected = {"a": "2026-01-01", "b": "0.5", "c": 3, "d": True, "e": None, "f": "yes", "g": "1e3"}

    assert parse_yaml(b"a: 2026-01-01\nb: 0.5\nc: 3\nd: true\ne:\nf: 'yes'\ng: 1e3") == expected

    assert parse_yaml(b'{"a": [1, "no", null]}') == {"a": [1, "no", None]}

    assert parse_yaml(b'{"a": "\\ud83d\\ude42", "b": "\\ud83d"}') == {"a": "\U0001f642", "b": "\ud83d"}


def test_read_survey_file_says_that_a_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r'the file ".*none.yaml" was not found'):
        read_survey_file(tmp_path / "none.yaml")


WRONG = """\
format: sottovoce-survey/1
name: exam
revision: 1
default_language: en
title: {en: Exams}
access: token
privacy: {max_epsilon_total: "0.1"}
waves: []
questions:
  - type: select_one
    name: smokes
    label: {en: Smokes}
    choices:
      - {name: only, label: {de: Nur}}
    mechanism: {epsilon: "1"}
    public: no
  - type: boolean
    name: cheated
    label: {en: Cheated}
    visible_if: {smoke: "x"}
    when_absent: "no"
    mechanism: {name: coin_flip}
    typo: 1
  - type: matrix
    name: habits
    label: {en: Habits}
    rows:
      - {name: Bad, label: {en: Bad}}
    typo: 1
    typo: 2
"""


def told(tmp_path: Path, text: str) -> dict[str, str]:
    (tmp_path / "survey.yaml").write_text(text)
    with pytest.raises(SpecError) as found:
        read_survey_file(tmp_path / "survey.yaml")
    return {found.value.places.get(pointer, pointer) or message[:8]: message for pointer, message in
            found.value.problems}  # fmt: skip


def test_all_mistakes_are_told_at_once_with_their_places(tmp_path: Path) -> None:
    """Counted from one, with the question's name and the line; none hides another."""
    found = told(tmp_path, WRONG)

    assert set(found) == {
        "line 16,",
        "line 30,",
        "waves, line 8",
        "question 1 'smokes', choices, line 13",
        "question 1 'smokes', choice 1 'only', label, line 14",
        "question 1 'smokes', public, line 16",
        "question 2 'cheated', typo, line 23",
        "question 2 'cheated', visible_if, smoke, line 20",
        "question 3 'habits', typo, line 29",
        "question 3 'habits', of, line 24",
        "question 3 'habits', row 1, name, line 28",
    }
    assert found["question 2 'cheated', visible_if, smoke, line 20"].endswith("nearest first: smokes")


def test_what_a_survey_costs_is_told_beside_other_mistakes(tmp_path: Path) -> None:
    """A total that is too high, and a memo under tokens, are found though the title is missing."""
    text = WRONG.partition("questions:")[0].replace("title: {en: Exams}\n", "").replace("waves: []\n", "")
    layer = "{name: binary_rr, a: 3/4, b: 1/4}"
    memo = f"{{name: memoized_rr, permanent: {layer}, instantaneous: {layer}, waves: 2}}"
    found = told(
        tmp_path, f"{text}questions:\n  - {{type: boolean, name: q, label: {{en: Q}}, mechanism: {memo}}}\n"
    )  # fmt: skip

    assert {place.rpartition(",")[0] for place in found} == {
        "",
        "privacy, max_epsilon_total",
        "question 1 'q', mechanism",
    }


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("title: Exams: what we ask", "line 1, column 13", "a colon and a space"),
        ("a: b\nc: @home", "line 2, column 4", "begins with @"),
        ("a:\n\tb: c", "line 2, column 1", "not with tabs"),
        ('a: 1\nb: "open\nc: 3\n', "line 2, column 4", "is never closed"),
        ("a: [1, 2\nb: 3", "line 2", "one of , ? [ ] { }"),
        ("a: !important", "line 1, column 4", "begins with !"),
        ("a: *important", "line 1, column 4", "begins with & or *"),
        ("a: > b", "line 1, column 6", "begins with | or >"),
        ('a: "b" c', "line 1, column 8", "begins with a quotation mark"),
    ],
)
def test_text_that_is_not_yaml_is_told_what_to_quote(text: str, place: str, hint: str) -> None:
    with pytest.raises(SpecError) as found:
        parse_yaml(text.encode())
    assert str(found.value).startswith(f"/: {place}")
    assert hint in str(found.value)
