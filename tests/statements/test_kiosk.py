"""What a device that is handed round says is licensed by the survey, and complete."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest
from sottovoce.shared.accounting import DEFAULT_ALLOWANCE, check_allowance
from sottovoce.shared.errors import BudgetExhausted, SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.statements.pages_table import KIOSK_NOTES, KIOSK_RECEIPT, KIOSK_START
from tests.statements.table import RECEIPT, Facts, Sent
from tests.statements.test_statements import (
    EACH_TIME,
    SLOW,
    Fault,
    Values,
    compare,
    decorated,
    faults_of_form,
    forms,
    reports,
)

pytestmark = pytest.mark.external

_RECEIPT = {key: is_true for key, is_true in RECEIPT.items() if key != "receipt_title"} | KIOSK_RECEIPT


def handed_round() -> Iterator[tuple[int, Survey]]:
    """Yield the random surveys that go with such a device, within what it allows, by seed."""
    for seed in count():
        with contextlib.suppress(SpecError, BudgetExhausted):
            survey = parse_survey({**decorated(seed).document, "kiosk": True})
            check_allowance(survey, DEFAULT_ALLOWANCE)
            yield seed, survey


def faults_of_kiosk(survey: Survey, values: Sequence[Values], printed: Mapping[str, Any]) -> list[str]:
    """Return what is wrong on such a device: before the first code, before Begin, and on each receipt."""
    facts, kiosk = Facts.of(survey), printed["kiosk"]
    wrong = compare(kiosk["code"], KIOSK_START, facts, "code") + compare(kiosk["notes"], KIOSK_NOTES, facts, "notes")
    for report, receipt in zip(values, kiosk["receipts"], strict=True):
        sent = Sent(facts, report, survey.epsilon_in_arm(report[-1] or 0 if survey.arms else 0))
        wrong += compare(receipt, _RECEIPT, sent, "receipt")
    return wrong + faults_of_form(survey, values, printed)


def wrong(number: int, folder: Path, fault: Fault | None = None) -> dict[int, list[str]]:
    seeds, surveys = zip(*islice(handed_round(), number), strict=True)
    values = [reports(survey, seed) for seed, survey in zip(seeds, surveys, strict=True)]
    found = map(faults_of_kiosk, surveys, values, forms(surveys, values, folder, fault))
    return {seed: faults for seed, faults in zip(seeds, found, strict=True) if faults}


@pytest.mark.parametrize("number", [EACH_TIME, pytest.param(SLOW, marks=pytest.mark.slow)])
def test_kiosk_states_what_is_true(tmp_path: Path, number: int) -> None:
    assert wrong(number, tmp_path) == {}


FAULTS: list[Fault] = [
    ("form/kiosk.js", 'survey.access === "open" && survey.private.length', 'survey.access !== "open"'),
    ("form/kiosk.js", 'survey.access === "open" && survey.private.length', 'survey.access === "open"'),
    ("form/kiosk.js", '"open" ? "kiosk_staff" : "kiosk_card"', '"open" ? "kiosk_card" : "kiosk_staff"'),
    ("form/folds.js", "(kiosk ? [] : ", "(!kiosk ? [] : "),
]


@pytest.mark.slow
def test_false_or_missing_statement_is_found(tmp_path: Path) -> None:
    """One condition turned at a time: each is found within 20 surveys."""
    assert [fault for fault in FAULTS if not wrong(EACH_TIME, tmp_path, fault)] == []
