"""Codes of a question in a host's export: their estimate, and what is refused."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sottovoce import records
from sottovoce.cli.main import main
from sottovoce.client.draws import Draws
from sottovoce.shared.by_link.link_question import parse_link, write_code

from tests.commands import done, refused
from tests.vectors.cases import named
from tests.vectors.tape import Tape

PEOPLE = 400
COIN: dict[str, Any] = {"type": "boolean", "name": "cheated", "label": {"en": "Ever?"}, "mechanism": named("coin_flip")}
BLOCK = {
    "block": "both",
    "items": [{"type": "boolean", "name": name, "label": {"en": f"Have you {name}?"}} for name in ("drank", "lied")],
    "mechanism": {"name": "joint_rr", "odds": "9", "radius": 0},
}
THEN = {"then": "https://docs.google.com/forms/d/x/viewform", "code": "entry.1"}


def codes(document: dict[str, Any], answers: list[Any]) -> list[str]:
    """Return the codes of people with these answers to the questions of a stop; None declines."""
    link, draws, found = parse_link(document), Draws(Tape("codes")), []
    for answer in answers:
        number = None
        for place, asked in enumerate([] if answer is None else link.asked):
            report = records.simulate(asked.document, answer[place], draws).report
            number = (number or 0) * link.sizes[place] + report
        found.append(write_code(link.digest, math.prod(link.sizes), number, 1))
    return found


def estimated(folder: Path, document: dict[str, Any], cells: list[str], *more: str) -> Result:
    """Estimate an export whose column of codes has these cells."""
    (folder / "question.yaml").write_text(json.dumps(document))
    lines = [f'2026-11-27,"{cell}",{"first" if place % 2 else "second"}' for place, cell in enumerate(cells)]
    (folder / "data.csv").write_text("\n".join(["Timestamp,Paste it here,year", *lines]))
    words = ["results", "estimate", str(folder / "data.csv"), "--question", str(folder / "question.yaml"), *more]
    return CliRunner().invoke(main, words)


def shares(ended: Result) -> dict[str, float]:
    """Return the estimated share of yes by question."""
    rows = {result["name"]: result for result in json.loads(ended.stdout)["questions"]}
    return {
        name: next(float(row["raw"]) for row in result["estimates"] if row.get("option") == "yes")
        for name, result in rows.items()
        if name not in {"year", "Timestamp"}
    }


def test_codes_are_estimated_as_their_reports(tmp_path: Path) -> None:
    """Of a block and a question at one stop, with people who declined and cells that are empty."""
    answers = [
        None if number % 10 == 0 else [{"drank": "yes", "lied": "no"}, "yes" if number % 4 == 1 else "no"]
        for number in range(PEOPLE)
    ]
    document = {"questions": [BLOCK, COIN], **THEN}
    ended = done(estimated(tmp_path, document, [*codes(document, answers), "", ""], "--json"))
    found = shares(ended)
    assert set(found) == {"drank", "lied", "cheated"}
    asked = [answer[1] for answer in answers if answer is not None]
    assert found["cheated"] == pytest.approx(asked.count("yes") / len(asked), abs=0.15)
    assert found["drank"] > 0.85
    assert found["lied"] < 0.15


def test_tables_take_the_file_of_the_question_as_a_channel(tmp_path: Path) -> None:
    """Beside the columns of the export."""
    document = {**COIN, **THEN}
    estimated(tmp_path, document, codes(document, [["yes" if place % 3 else "no"] for place in range(PEOPLE)]))
    words = ["--rows", "cheated", "--columns", "year", "--channel", str(tmp_path / "question.yaml")]
    ended = done(CliRunner().invoke(main, ["results", "crosstab", str(tmp_path / "data.csv"), *words]))
    assert "“year” by “cheated”" in ended.output


def test_edited_code_is_refused_with_its_line(tmp_path: Path) -> None:
    """The message names column and line, and repeats nothing; nothing is estimated."""
    document = {**COIN, **THEN}
    cells = codes(document, [["yes"]] * 5)
    edited = ("C" if cells[2][0] != "C" else "D") + cells[2][1:]
    for wrong in (edited, "I have never cheated"):
        ended = refused(estimated(tmp_path, document, [*cells[:2], wrong, *cells[3:]]))
        assert "line 4, column 'Paste it here'" in ended.output
        assert "edited" in ended.output
        assert wrong not in ended.output


def test_file_without_codes_of_the_question_is_refused(tmp_path: Path) -> None:
    """Codes of the same question with another consent are none."""
    cells = codes({**COIN, **THEN, "consent": {"en": "May we?"}}, [["yes"]] * 3)
    ended = estimated(tmp_path, {**COIN, **THEN}, cells)
    assert "no column holds codes of the question with digest" in ended.output


def test_column_with_the_name_of_the_question_is_refused(tmp_path: Path) -> None:
    """Beside the codes; a column of codes may have it."""
    document = {**COIN, "name": "year", **THEN}
    assert "rename it" in estimated(tmp_path, document, codes(document, [["yes"]] * 3)).output
