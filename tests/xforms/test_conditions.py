"""Conditions of forms hold here where they hold in ODK's own engine, or a note names the row."""

import itertools
import json
import subprocess
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sottovoce.aggregator.authoring.xlsform import read_xlsform
from sottovoce.shared.answers import Value
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey
from sottovoce.shared.visibility import is_shown

from tests.unit.aggregator.authoring.workbooks import workbook

pytestmark = [pytest.mark.slow, pytest.mark.external]

HERE = Path(__file__).parent
"""Its environments of pyxform and of the engine are made by ``make slow``."""

YES = "${s} = 'yes'"
ONE = (
    "${kind} = 'a'",
    "${kind} != 'a'",
    "'a' = ${kind}",
    "'a' != ${kind}",
    'not(${kind} = "a")',
    "not(${kind} != 'a')",
    "selected(${kind}, 'a')",
    "not(selected(${kind}, 'a'))",
    "not(not(selected(${kind}, 'b')))",
    "${kind} = ‘b’",
    "${kind} = 'a' or ${kind} = 'b'",
    "${kind} != 'a' and ${kind} != 'b'",
    "not(${kind} = 'a' or ${kind} = 'b')",
    "${kind} != 'a' or ${kind} = 'b'",
    "${kind} != 'a' and ${kind} = 'b'",
    "${kind} = ' a'",
    YES,
    "${s} != 'yes'",
    "not(${s} = 'yes')",
    "${s} = 'no' or ${kind} = 'c'",
    "${s} = 'yes' and ${kind} != 'c'",
    "${n} < 3",
    "${n} <= 3",
    "${n} > 3",
    "${n} >= 3",
    "${n} = 3",
    "3 < ${n}",
    "3 >= ${n}",
    "not(${n} > 3)",
    "${n} = '3'",
    "not(${n} <= 3)",
    "${n} > 2.5",
    "${n} < 2.5",
    "${n} >= 2.5",
    "${n} <= 2.5",
    "not(${n} < 2.5)",
    "${n} >= 1 and ${n} < 9",
    "${n} > -1",
    "not(${n} > 1 and ${n} < 9)",
    "${n} > 3 or ${kind} = 'a'",
    "${n} > 3 and not(${kind} = 'a')",
    "${d} > 0",
    "${d} >= 0.5",
    "${d} < 0.5",
    "not(${d} >= 0.5)",
    "0.5 = ${d}",
    "${d} = '0.5'",
    "${d} <= 0.45",
    "${d} > 0.45 and ${s} = 'no'",
    "selected(${many}, 'a')",
    "selected(${many}, 'a') or selected(${many}, 'b')",
    "selected(${many}, 'b') and ${n} > 3",
    "selected(${many}, 'a') or ${kind} = 'b'",
    "${s} = 'yes' and (${kind} = 'a' or ${n} > 3)",
    "${s} = 'yes' and not(${kind} = 'a' and ${n} > 3)",
    "(${s} = 'yes' and ${kind} = 'a')",
    "((${n} > 0) and (${n} < 9))",
    "${r} > 3",
    "${r} >= 4",
    "${r} < 3 or ${s} = 'no'",
    "not(${r} = 4)",
    "${code} = 1",
    "${code} = '1'",
    "${code} != '2'",
    "${code} = '-1'",
    "not(${code} = 2) and ${s} = 'yes'",
)
"""Conditions of our own."""

BEYOND = (
    "${n} != 3",
    "${n} = ''",
    "${kind} = ''",
    "${kind} != ''",
    "not(selected(${many}, 'a'))",
    "${n} < 3 or ${n} > 5",
    "${kind} < 'b'",
    "true()",
    "count-selected(${many}) > 1",
    "${n} + 1 > 3",
    "${kind} = 'z'",
    "${n} = 2.5",
    "string-length(${kind}) > 0",
    "${n} = '3.0'",
    "${kind} = 'a' and ${kind} = 'b'",
    "${many} = 'a'",
    "${code} = 1.0",
    "${n} > ${d}",
    "${d} = '0.50'",
)
"""Conditions that a survey cannot express, which a note has to name."""

ANSWERS: Mapping[str, tuple[Any, ...]] = {
    "s": (None, "yes", "no"),
    "kind": (None, "a", "b", "c"),
    "n": (None, 0, 2, 3, 9),
    "d": (None, 0, 0.4, 0.5),
    "many": ([], ["a"], ["a", "b"], ["c"]),
    "r": (2, 4),
    "code": (None, "1", "-1"),
}

FORM = (
    ("type", "name", "label", "relevant", "constraint", "required", "parameters"),
    ("select_one yn", "s", "S?", "", "", "", ""),
    ("select_one k", "kind", "Kind?", YES, "", "yes", ""),
    ("integer", "n", "N?", YES, ". >= 0 and . <= 9", "yes", ""),
    ("decimal", "d", "D?", "", ". >= 0 and . <= 1", "no", ""),
    ("select_multiple k", "many", "Many?", "", "", "yes", ""),
    ("range", "r", "R?", "", "", "yes", "start=0 end=20 step=2"),
    ("select_one code", "code", "Code?", "", "", "", ""),
    *(("note", f"q{number}", "Q", relevant, "", "", "") for number, relevant in enumerate((*ONE, *BEYOND))),
)

CHOICES = (
    ("list_name", "name", "label"),
    ("yn", "yes", "Yes"),
    ("yn", "no", "No"),
    *(("k", name, name.upper()) for name in "abc"),
    *(("code", name, f"Code {name}") for name in ("1", "2", "-1")),
)


def _in_odk(form: Path, answers: list[dict[str, Any]]) -> list[set[str]]:
    """The questions that ODK's engine shows for each combination of answers."""
    subprocess.run([HERE / ".venv/bin/xls2xform", "--skip_validate", form, form.with_suffix(".xml")], check=True)
    sent = json.dumps({"xml": form.with_suffix(".xml").read_text(encoding="utf-8"), "answers": answers})
    done = subprocess.run(["node", HERE / "engine.mjs"], input=sent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [set(shown) for shown in json.loads(done.stdout)]


def _here(survey: Survey, names: Mapping[str, str], answers: Mapping[str, Any]) -> Iterator[str]:
    """The items that a device shows for a combination of answers, one after the other."""
    given: dict[str, Value] = {}
    for item in survey.items:
        if not is_shown(item.visible_if, item.any_of, given):
            continue
        yield item.name
        answer = answers.get(item.name)
        if answer is not None:
            [question] = item.questions
            told = names.get(answer, answer) if isinstance(answer, str) else answer
            given[item.name] = question.encode(str(told) if isinstance(told, float) else told)


def test_condition_holds_where_it_holds_in_odk_or_is_noted(tmp_path: Path) -> None:
    form = tmp_path / "form.xlsx"
    form.write_bytes(workbook(survey=FORM, choices=CHOICES))
    imported = read_xlsform(form.read_bytes())
    noted = {FORM[one.row - 1][1] for one in imported.left_out if one.column == "relevant" and one.sheet == "survey"}
    answers = [dict(zip(ANSWERS, each, strict=True)) for each in itertools.product(*ANSWERS.values())]
    here = map(partial(_here, parse_survey(imported.document), {"-1": "minus_1"}), answers)

    differing = {
        name
        for odk, mine in zip(_in_odk(form, answers), here, strict=True)
        for name in odk ^ set(mine)
        if name[0] == "q"
    }
    relevant = {row[1]: row[3] for row in FORM}
    assert {relevant[name] for name in differing - noted} == set()
    assert len(ONE) >= 60
    assert {relevant[name] for name in noted & {*relevant}} >= {*BEYOND}
    assert len({f"q{number}" for number in range(len(ONE))} - noted) >= 35
