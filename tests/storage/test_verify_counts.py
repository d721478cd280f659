"""What is kept beside the rows is held against them: each number that is off is found, and none that is right."""

import hashlib

import pytest
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.sql_storage import TABLES_OF_REPORTS
from sottovoce.aggregator.storage.table_catalogue import fill
from sottovoce.aggregator.storage.verify_counts import wrong_counts

from tests.storage.test_contract import arrival, identity, plan
from tests.surveys import survey

TOUCHED = ("reports", "tombstones", "cells", "counts", "shown_cells", "shown_counts", "token_counts")

FAULTS = {
    "UPDATE cells SET cohort = cohort + 2": "by wave and cohort",
    "UPDATE counts SET cohort = cohort + 2": "the counts are not those of the rows",
    "UPDATE cells SET arrived = arrived + 1": "by wave and cohort",
    "UPDATE cells SET arrived = arrived + 1, withdrawn = withdrawn + 1": "withdrawn reports",
    "UPDATE counts SET wave = wave + 1 WHERE question = 0": "the counts are not those of the rows",
    "UPDATE counts SET reports = reports + 1 WHERE question = 0": "the counts are not those of the rows",
    "UPDATE shown_cells SET arrived = arrived - 1": "the shown counts",
    "UPDATE shown_cells SET arrived = arrived + 1000": "the numbers of shown reports",
    "UPDATE shown_cells SET withdrawn = withdrawn + 1000": "the numbers of shown reports",
    "UPDATE shown_cells SET at_close = arrived + 1": "the numbers of shown reports",
    "UPDATE shown_cells SET cohort = cohort + 5": "the shown counts",
    "UPDATE shown_counts SET reports = reports + 1 WHERE question = 1": "the shown counts",
    "UPDATE shown_counts SET reports = -reports": "the shown counts",
    "UPDATE shown_counts SET value = value + 2 WHERE question = 0": "the shown counts",
    "DELETE FROM shown_counts WHERE question = 2": "the shown counts",
    "UPDATE token_counts SET created = 1000": "the numbers of tokens",
    "UPDATE token_counts SET spent = spent - 1, revoked = revoked + 1": "the numbers of tokens",
    "UPDATE surveys SET digest = 'changed'": "the text is not the one of its digest",
    "UPDATE surveys SET name = 'another'": "the text is not the one of its digest",
    "DELETE FROM tombstones": "withdrawn reports",
    'UPDATE reports SET "values" = substr("values", 1, 1)': "hold no values",
}


def change(storage: Storage, statement: str) -> None:
    """Change a database behind the program's back."""
    with storage.write() as db:  # type: ignore[attr-defined]
        db.execute(statement)


@pytest.fixture
def store(store: Storage) -> Storage:
    """Reports of two cohorts, more of them than are shown, two withdrawn; tokens of every kind."""
    key = store.publish(survey()).key
    store.store([arrival(key, number, (number % 2, number % 3, number // 4 % 2)) for number in range(70)])
    store.store([arrival(key, number, (0, 1, number % 2)) for number in range(100, 110)])
    for number in (1, 6):
        store.withdraw(plan(key), identity(number))
    tokens = [hashlib.sha256(bytes([number])).digest() for number in range(5)]
    store.add_tokens(key, tokens)
    store.revoke_tokens(key, tokens[:2])
    return store


def test_nothing_is_found_in_what_the_program_wrote(store: Storage) -> None:
    """While the survey is open, after its first close, reopened, and when ids are forgotten."""
    assert store.cells(1)[0].reports > 0
    assert wrong_counts(store) == []
    for step in (lambda: store.close_survey("exam", 20_000), lambda: store.reopen_survey("exam")):
        step()
        assert wrong_counts(store) == []
    store.store([arrival(1, number) for number in range(200, 230)])
    store.close_survey("exam", 20_001)
    store.purge(1)
    assert wrong_counts(store) == []


def test_every_number_that_is_off_is_found(store: Storage) -> None:
    before = {table: list(store.export_table(table)) for table in TOUCHED}
    store.settle()
    reports = TABLES_OF_REPORTS[0]
    for statement, words in FAULTS.items():
        change(store, statement.replace("UPDATE reports", f"UPDATE {reports}"))
        found = wrong_counts(store)
        assert any(words in line for line in found), (statement, found)
        for table, rows in before.items():
            place = reports if table == "reports" else table
            change(store, f"DELETE FROM {place}")  # noqa: S608 - one of a few
            with store.write() as db:  # type: ignore[attr-defined]
                db.executemany(fill(table, place), rows)
        change(store, f"UPDATE surveys SET name = 'exam', digest = '{survey().digest}'")  # noqa: S608
        assert wrong_counts(store) == [], statement


def test_broken_or_shortened_record_is_found(store: Storage) -> None:
    store.close_survey("exam", 20_000)
    assert store.verify() == []
    change(store, "UPDATE record SET day = day + 1 WHERE number = 1")
    assert any("record was changed" in line for line in store.verify())
    change(store, "UPDATE record SET day = day - 1 WHERE number = 1")
    assert store.verify() == []
    change(store, "DELETE FROM record WHERE number = 2")
    change(store, "UPDATE record SET about = 'exam 1 0'")
    assert any("does not say that it was published" in line for line in store.verify())
