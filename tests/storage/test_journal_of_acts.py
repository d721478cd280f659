"""What staff do to a survey stands in the journal, in the step that does it; what respondents do never does."""

import json
from pathlib import Path
from typing import Any

import pytest
from sottovoce.aggregator.storage import Storage, TokenBatch
from sottovoce.aggregator.storage.audit_log import events as words
from sottovoce.aggregator.storage.copy import copy_all, save
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.errors import StorageError

from tests.storage.test_contract import arrival, identity, plan
from tests.storage.test_journal_table import ANNE, BERT
from tests.surveys import survey


def told(database: Storage) -> list[tuple[str, str, str]]:
    """The entries without numbers, days and hashes."""
    return [(entry.what, entry.who, entry.about) for entry in database.journal.entries()]


def test_each_step_in_the_life_of_a_survey_is_noted_once(store: Storage) -> None:
    first, second = survey(), survey(revision=2, replaces=survey().digest)
    for one in (first, first, second):
        store.publish(one, one is second, ANNE)
    key = store.revisions("exam")[0].key
    store.purge(key, ANNE)
    for _ in range(2):
        store.close_survey("exam", 1, BERT)
    for _ in range(2):
        store.reopen_survey("exam", BERT)
    store.close_survey("exam", 1)
    store.purge(key)
    store.delete_survey("exam", words.MACHINE)

    assert told(store) == [
        (words.PUBLISHED, ANNE, f"exam 1 {first.digest}"), (words.PUBLISHED, ANNE, f"exam 2 {second.digest}"),
        (words.RETIRED, ANNE, f"exam 1 {first.digest}"), (words.CLOSED, BERT, "exam"), (words.REOPENED, BERT, "exam"),
        (words.CLOSED, words.NO_ACTOR, "exam"), (words.PURGED, words.NO_ACTOR, "exam 1"),
        (words.DELETED, words.MACHINE, "exam"),
    ]  # fmt: skip
    assert store.verify() == []


def test_tokens_are_noted_by_their_number_and_what_is_left_of_them_is_not(store: Storage) -> None:
    """How many were still good when they were taken back would tell how many have answered."""
    key = store.publish(survey(access="token")).key
    hashes = [bytes([number]) * 32 for number in range(9)]
    store.add_tokens(key, hashes[:4], ANNE)
    batch = TokenBatch(key, "exam", hashes[4:], "request", "body", BERT)
    for _ in range(2):
        store.add_tokens_once(batch)
    store.store([arrival(key, 1, token=hashes[0])])
    store.revoke_tokens(key, hashes[:2], ANNE)

    assert told(store)[1:] == [
        (words.TOKENS_MADE, ANNE, "exam 4"), (words.TOKENS_MADE, BERT, "exam 5"), (words.TOKENS_REVOKED, ANNE, "exam")
    ]  # fmt: skip


def test_act_that_is_refused_leaves_no_entry(store: Storage) -> None:
    """Both are one step; neither is there without the other."""
    store.publish(survey())
    before = told(store)
    refused = [
        lambda: store.publish(survey(title={"en": "Changed"}), who=ANNE),
        lambda: store.reopen_survey("other", ANNE),
        lambda: store.delete_survey("other", ANNE),
        lambda: store.add_tokens(99, [bytes(32)], ANNE),
    ]
    for act in refused:
        with pytest.raises(StorageError):
            act()
    for act in (lambda: store.close_survey("exam", 1, "Anne"), lambda: store.delete_survey("exam", "10.0.0.1")):
        with pytest.raises(ValueError, match="does not match the form"):
            act()

    assert told(store) == before
    assert [row.closed for row in store.surveys()] == [False]


def test_nothing_of_a_respondent_is_in_the_journal(store: Storage) -> None:
    key = store.publish(survey()).key
    before = [tuple(entry) for entry in store.journal.entries()]
    store.store([arrival(key, number) for number in range(60)])
    store.store([arrival(key, 1), arrival(key, 2, (0, 2, 0))])
    store.withdraw(plan(key), identity(3))
    store.withdraw(plan(key), identity(99))

    assert [tuple(entry) for entry in store.journal.entries()] == before
    written = json.dumps([str(row) for table in ("journal", "journal_head") for row in store.export_table(table)])
    assert not any(identity(number).hex() in written for number in range(60))


def test_backup_and_copy_keep_the_chain_and_it_goes_on(store: Storage, tmp_path: Path) -> None:
    store.publish(survey(), who=ANNE)
    store.close_survey("exam", 1, BERT)
    noted, entries = store.journal.head(), list(store.journal.entries())
    save(store, tmp_path / "saved.sqlite")
    saved: Any = SQLiteStorage(tmp_path / "saved.sqlite")
    copied: Any = SQLiteStorage(tmp_path / "copied.sqlite", unfinished=True)
    copy_all(saved, copied)
    for database in (saved, copied):
        assert list(database.journal.entries()) == entries
        database.reopen_survey("exam", ANNE)
        assert database.verify() == []
        assert database.journal.is_known(noted)
        database.close()


def test_documentation_tells_every_kind_of_entry() -> None:
    text = (Path(__file__).parents[2] / "docs" / "journal.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"][2:]

    assert rows == [[what, form.meaning, form.about or "nothing more"] for what, form in words.WHAT.items()]
