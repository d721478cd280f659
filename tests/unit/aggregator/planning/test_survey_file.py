"""Survey files: YAML without its traps."""

from pathlib import Path

import pytest
from sottovoce.aggregator.planning.survey_file import parse_yaml, read_survey_file
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
        ("[" * 5000, "not valid YAML"),
    ],
)
def test_parse_yaml_refuses_traps_with_their_place(text: str, message: str) -> None:
    """Each trap is refused in words, and a place where there is one."""
    with pytest.raises(SpecError, match=message):
        parse_yaml(text.encode())


def test_parse_yaml_keeps_decimals_and_dates_as_text() -> None:
    """What canonical surveys write as text is text here too."""
    expected = {"a": "2026-01-01", "b": "0.5", "c": 3, "d": True, "e": None, "f": "yes", "g": "1e3"}

    assert parse_yaml(b"a: 2026-01-01\nb: 0.5\nc: 3\nd: true\ne:\nf: 'yes'\ng: 1e3") == expected


def test_parse_yaml_reads_json() -> None:
    """JSON is YAML."""
    assert parse_yaml(b'{"a": [1, "no", null]}') == {"a": [1, "no", None]}


def test_read_survey_file_says_that_a_file_is_missing(tmp_path: Path) -> None:
    """A missing file is a message, not a traceback."""
    with pytest.raises(SpecError, match="cannot be read"):
        read_survey_file(tmp_path / "none.yaml")
