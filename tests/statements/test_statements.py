"""Every sentence about privacy is licensed by the survey, and every sentence that the survey needs is there."""

import contextlib
import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.planning.simulated_survey import invent, reports_of
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, seeded
from sottovoce.client import words
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey
from sottovoce.shared.survey_keys import SURVEY_MARKS

from tests.documents import Document
from tests.random_surveys import random_survey
from tests.statements.table import BEGIN, FOLDED, RECEIPT, Facts, Sent, Values
from tests.vectors.test_javascript import write_sources

pytestmark = pytest.mark.external
HERE = Path(__file__).parent
EACH_TIME, SLOW = 20, 300
PEOPLE = 4

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_PRINTED = re.compile(r"⟦(\w+)")
_NUMBER = re.compile(r"(\w+)=(\d+)")


@cache
def decorated(seed: int) -> Survey:
    """Return a random survey with more of the keys on which statements depend, where they go with the others."""
    draw = Random(f"statements {seed}")  # noqa: S311 - the same surveys in each run
    survey = random_survey(seed)
    label, items = survey.title, survey.document["questions"]
    own = {"share": "1/4", "source": label, "label": label}
    fact = {"type": "boolean", "name": "fact", "label": label, "procedure": "crosswise", "innocuous": own}
    changes: list[tuple[float, Document]] = [
        # What the direct arm asks has no protection.
        (0.7, {"questions": [_in_clear(item) if item.get("arm") == ["direct"] else item for item in items]}),
        (0.1, {"questions": [_in_clear(item) for item in items if "name" in item]}),
        (0.3, {"access": "token"}),
        (0.3, {"quick_exit": True}),
        (0.1, {"trial": True}),
        (0.5, {"check": False}),
        (0.5, {"closes": "2099-03-31T23:59:59Z"}),
        (0.2, {"questions": [*items, fact]}),
        *((0.2, {key: True}) for key in SURVEY_MARKS if key not in {"trial", "kiosk"}),
        (0.4, {"questions": [_by_fact(item, fact) if item.get("arm") == ["protected"] else item for item in items]}),
    ]
    for chance, change in changes:
        if draw.random() < chance:
            with contextlib.suppress(SpecError):
                survey = parse_survey({**survey.document, **change})
    return survey


def _in_clear(item: Document) -> Document:
    kept = {key: item[key] for key in ("name", "label", "arm") if key in item}
    return {"type": "boolean", "public": True, **kept}


def _by_fact(item: Document, fact: Document) -> Document:
    own = {tag: item.get("name", "") for tag in fact["label"]}
    return {**fact, "name": item["name"], "arm": item["arm"], "innocuous": {**fact["innocuous"], "label": own}}


@dataclass(frozen=True)
class Statement:
    """A printed sentence: the key of its catalogue entry, and the numbers of the text that has it."""

    key: str
    numbers: Mapping[str, str]


def marked(catalogue: Mapping[str, str]) -> dict[str, str]:
    """Return a catalogue whose sentences are their own keys, with what fills them; what stands between them stays."""
    filled = {
        key: [key, *(f"{name}={{{name}}}" for name in _PLACEHOLDER.findall(text))] for key, text in catalogue.items()
    }
    return {key: f"⟦{' '.join(parts)}⟧" for key, parts in filled.items()} | {"language": "en", "gap": " "}


def statements(texts: Sequence[str]) -> list[Statement]:
    """Return the sentences of the catalogue in printed texts."""
    return [Statement(key, dict(_NUMBER.findall(text))) for text in texts for key in _PRINTED.findall(text)]


def reports(survey: Survey, seed: int) -> list[list[int | None]]:
    numbers = reports_of(survey, next(iter(invent(survey, PEOPLE, seed))), BatchDraws(seeded(str(seed)))).numbers
    null = np.iinfo(numbers.dtype).max
    return [[None if value == null else int(value) for value in row] for row in numbers]


Fault = tuple[str, str, str]
"""A module of the form, a part of it, and what stands in its place."""


def forms(
    surveys: Sequence[Survey], values: Sequence[Sequence[Values]], folder: Path, fault: Fault | None = None
) -> list[dict[str, Any]]:
    """Return what the form prints of each survey, by page; with a fault in it, if one is given."""
    node = shutil.which("node")
    assert node, "node 20 or newer is needed"
    (folder / "package.json").write_text('{"type": "module"}')
    write_sources(folder)
    if fault is not None:
        module, right, wrong = fault
        source = (folder / module).read_text(encoding="utf-8")
        assert source.count(right) == 1, f"{module} has another {right}"
        (folder / module).write_text(source.replace(right, wrong), encoding="utf-8")
    asked = {
        "surveys": [survey.document for survey in surveys],
        "sentences": marked(words.catalogue()),
        "reports": values,
    }
    (folder / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
    command = [node, str(HERE / "printed.mjs"), str(folder), str(folder / "asked.json")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stderr
    return list(json.loads(run.stdout))


SILENT = re.compile(
    "facts|begin|back|may_stop|question_epsilon|questions_title|cohort_note|public$|public_note|grid_|odds_|neutral_note|weakest|practice_|check_|how_title|limits_title|about_|save_|yes$|no$"
    "|colon|semicolon|mark|low|high|absent|not_asked|question$|receipt_(exact|sent|bytes|sha256|digest|id|shared)"
    "|verify_note|withdraw$|forget|other_person|report_[ab]|range|about|fewer_than_one|more_than_99|nearly_100|none|spent"
    "|agree|not_kept|how_(answer|boxes|drawn)|explain_ask|exit_|ask_us|public_absent|crosswise_|date_odds|ending"
    "|letter_(hello|invite|who|opens|until|odds|ask)|poster_|invite_qr|page_questions|privacy_(stored|version)"
    "|answer_(yes|no)"
    "|ethics_(title|purpose|method|kept|ids|steps|taking_part|voluntary|consent|notice|limits?|version|(no_)?decline)"
)
"""Keys that say nothing of privacy, or what every survey with this mechanism says; in the terms of a pattern."""


def compare(printed: Sequence[str], table: Mapping[str, Any], known: Any, page: str) -> list[str]:
    """Return the false, the missing and the unknown statements of a page."""
    said = {statement.key.lower().removesuffix("_together") for statement in statements(printed)}
    true = {key for key, is_true in table.items() if is_true(known)}
    unknown = {key for key in said - set(table) if not SILENT.match(key)}
    return [
        *(f"{page}: false: {key}" for key in sorted(said & set(table) - true)),
        *(f"{page}: missing: {key}" for key in sorted(true - said)),
        *(f"{page}: not in the table: {key}" for key in sorted(unknown)),
    ]


def faults_of_form(survey: Survey, values: Sequence[Values], printed: Mapping[str, Any]) -> list[str]:
    facts = Facts.of(survey)
    found = compare(printed["begin"], BEGIN, facts, "begin") + numbers_wrong(facts, printed["begin"])
    found += compare(printed["folds"], FOLDED, facts, "folds")
    for page, key in (("closed", "error_closed"), ("used", "status_token")):
        said = [statement.key for statement in statements(printed[page])]
        found += [] if said == [key] else [f"{page}: {said}"]
    for report, receipt in zip(values, printed["receipts"], strict=True):
        sent = Sent(facts, report, survey.epsilon_in_arm(report[-1] or 0 if survey.arms else 0))
        found += compare(receipt, RECEIPT, sent, "receipt")
    return found


def numbers_wrong(facts: Facts, texts: Sequence[str]) -> list[str]:
    """Return the statements whose numbers of answers are no arm's."""
    counts = {(str(chance), str(chance + is_open)) for chance, is_open in map(facts.counts, facts.arms)}
    told = [each for each in statements(texts) if each.key in {"explain_title_some", "group_mixed"}]
    return [f"begin: {each}" for each in told if (each.numbers["chance"], each.numbers["total"]) not in counts]


@cache
def asked_and_sent(seeds: range) -> tuple[Sequence[Survey], Sequence[Sequence[Values]]]:
    """Return the surveys of these seeds and reports on each, made when a test first asks."""
    surveys = [decorated(seed) for seed in seeds]
    return surveys, [reports(survey, seed) for seed, survey in zip(seeds, surveys, strict=True)]


def wrong(seeds: range, folder: Path, fault: Fault | None = None) -> dict[int, list[str]]:
    surveys, values = asked_and_sent(seeds)
    found = map(faults_of_form, surveys, values, forms(surveys, values, folder, fault))
    return {seed: faults for seed, faults in zip(seeds, found, strict=True) if faults}


@pytest.mark.parametrize("number", [EACH_TIME, pytest.param(SLOW, marks=pytest.mark.slow)])
def test_form_and_receipt_state_what_is_true(tmp_path: Path, number: int) -> None:
    assert wrong(range(number), tmp_path) == {}


FAULTS: list[Fault] = [
    # Some answers are sent as given, and "Your answers are randomized." is said.
    ("form/protection.js", '"explain_title_some" : "explain_title"', '"explain_title" : "explain_title"'),
    # Half of the people are asked openly, and nothing says so before Begin.
    ("form/steps/explanation.js", "survey.groupSentences ?? []", "[]"),
    # The numbers of answers are those of the file, where a device draws some questions.
    ("form/protection.js", "const [group = { chance, total }, ...others] = groups;",
     "const [group, ...others] = [{ chance, total }, ...groups.slice(1)];"),
    ("form/steps/explanation.js", ', "status_withdraw"]', "]"),
    ("form/steps/explanation.js", "isShut(status)", "false"),
    # A receipt without a randomized answer says "randomized".
    ("form/steps/receipt.js", 'isAllChance ? "receipt_title" : "receipt_title_open"', '"receipt_title"'),
    # Of a direct arm, "epsilon 0.00" is said.
    ("form/steps/receipt.js", 'most ? "receipt_epsilon" : "all_public"', '"receipt_epsilon"'),
    # Where answers tell nearly everything, nothing is said of those that chance had a say in.
    ("form/steps/receipt.js", "return [chance, ...more", "return [...(isNearlySure(survey) ? [] : [chance]), ...more"),
    # A question that was not drawn is said to have hidden an answer.
    ("form/steps/receipt.js", "given.length > count", "survey.hasFacts"),
    # Where the other arm's answers are drawn, chance is said to have changed what a second statement hides.
    ("form/steps/receipt.js", "(countDrawn(survey, reports) ?", "(!survey.isByFacts ?"),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=[f"{place}" for place in range(len(FAULTS))])
def test_false_or_missing_statement_is_found(tmp_path: Path, fault: Fault) -> None:
    """Faults that the form had, put back one at a time: each is found within 20 surveys."""
    assert wrong(range(EACH_TIME), tmp_path, fault) != {}
