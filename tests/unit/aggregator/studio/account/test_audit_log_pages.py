"""The journal on pages: all of it for admins, a survey's part for its owners, in their language."""

import re

import pytest
from flask import Flask
from sottovoce.aggregator.i18n.translator import LANGUAGES, Words
from sottovoce.aggregator.storage.accounts.models import Account
from sottovoce.aggregator.storage.audit_log import events
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.studio.account import audit_log_pages

from tests.surveys import survey
from tests.unit.aggregator.studio.staff import browser

ANN, EVE = Account(b"a" * 16, "<i>Ann</i>"), Account(b"e" * 16, "Eve", admin=True)
HISTORY = "/dashboard/surveys/exam/history"


@pytest.fixture(autouse=True)
def accounts(storage: SQLiteStorage) -> None:
    for name in ("exam", "other"):
        storage.publish(survey(name=name))
    for account in (ANN, EVE):
        storage.access.add_account(account)
    storage.access.by(EVE.id.hex()).grant(ANN.id, "exam", "owner")


def rows(page: str) -> list[str]:
    found = re.findall(r"<tr><td class.*?</tr>", page)
    return [re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", row)).strip() for row in found]


def test_entries_are_told_by_name_and_in_words(app: Flask, storage: SQLiteStorage) -> None:
    page = browser(app, ANN.id).get(HISTORY).text
    assert "Eve gave a role exam · Owner · &lt;i&gt;Ann&lt;/i&gt;" in rows(page)[0]
    assert ANN.id.hex() not in page.partition("<main")[2]
    storage.journal.append(events.RESULTS_READ, ANN.id.hex(), "exam closed")
    told = rows(browser(app, ANN.id).get(HISTORY).text)
    assert told[0].endswith("exam · Closed")
    assert any("exam · Revision 1 · " in row for row in told)


def test_owners_read_of_their_survey_alone(app: Flask) -> None:
    own = browser(app, ANN.id).get(HISTORY).text
    whole = browser(app, EVE.id).get("/dashboard/journal").text
    one = browser(app, EVE.id).get("/dashboard/journal?survey=other").text

    assert "other" not in " ".join(rows(own))
    assert {"exam", "other"} <= set(" ".join(rows(whole)).split())
    assert "exam" not in " ".join(rows(one))
    assert len(rows(one)) == 1
    assert browser(app, ANN.id).get("/dashboard/journal").status_code == 403
    assert browser(app, EVE.id).get(HISTORY).status_code == 404


def test_pages_go_on_to_older_entries(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_log_pages, "ROWS", 2)
    eve, address, told = browser(app, EVE.id), "/dashboard/journal", list[str]()
    while True:
        page = eve.get(address).text
        told += rows(page)
        older = re.search(r'href="([^"]+before=[^"]+)"', page)
        if not older:
            break
        address = older[1].replace("&amp;", "&")
    numbers = [int(row.split()[0]) for row in told]

    assert numbers == list(range(numbers[0], 0, -1))
    assert len(numbers) > 4


def test_day_leaves_later_entries_out(app: Flask) -> None:
    eve = browser(app, EVE.id)

    assert rows(eve.get("/dashboard/journal?day=2001-01-01").text) == []
    assert "The journal is empty" in eve.get("/dashboard/journal?day=2001-01-01").text
    assert rows(eve.get("/dashboard/journal?day=sentinel&before=x&survey=%00").text)


def test_every_kind_of_entry_has_its_words() -> None:
    for language in LANGUAGES:
        for what in events.WHAT:
            assert Words(language).translate(f"did_{what.replace(' ', '_')}")
