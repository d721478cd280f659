"""What the terminal says of privacy is licensed by the survey, and complete."""

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from sottovoce.client import words
from sottovoce.client.revisions import RevisionStatus
from sottovoce.client.terminal.explanation import explain
from sottovoce.client.terminal.receipt import show_receipt
from sottovoce.shared.accounting import DEFAULT_ALLOWANCE
from sottovoce.shared.report import Report, dump_report

from tests.statements.table import ENGLISH, RECEIPT, Facts, Sent
from tests.statements.test_statements import EACH_TIME, compare, decorated, marked, reports

KEYS = marked(words.catalogue())


@pytest.fixture(autouse=True)
def keys_alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let every catalogue say the keys of its sentences; afterwards English is spoken, as at the start."""
    monkeypatch.setattr(words, "catalogue", lambda _: KEYS)
    yield
    words.choose_language(None, {})


def test_terminal_states_what_is_true(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {}
    for seed in range(3 * EACH_TIME):
        survey = decorated(seed)
        facts = Facts.of(survey)
        me = SimpleNamespace(survey=survey, asked=survey.questions, arm="", spent=0.0, cost=1.0, wave=0)
        explain(me, DEFAULT_ALLOWANCE, RevisionStatus("open", None, 1))  # type: ignore[arg-type]
        found = compare([capsys.readouterr().err], ENGLISH, facts, "terminal")
        for values in reports(survey, seed):
            body = dump_report(Report(survey.name, survey.digest, 0, "b" * 32, tuple(values)), survey).decode()
            show_receipt(
                survey, {"body": body, "sha256": "", "report_id": "", "digest": ""}, as_json=False, exactly=True
            )
            sent = Sent(facts, values, survey.epsilon_in_arm(values[-1] or 0 if survey.arms else 0))
            found += compare([capsys.readouterr().err], RECEIPT, sent, "receipt")
        wrong |= {seed: found} if found else {}

    assert wrong == {}
