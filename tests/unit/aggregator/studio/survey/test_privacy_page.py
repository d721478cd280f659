import re
import shlex
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from flask import Flask
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.authoring.draft import empty_draft
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.privacy_account.text import lines
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.accounts.models import Account
from sottovoce.aggregator.storage.audit_log import events as words
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.client.link import parse_link
from sottovoce.client.page import PageFile

from tests.blocks import block, in_block
from tests.conftest import FakeClock
from tests.page_files import page_files
from tests.surveys import document, every_type, months, survey
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.studio.staff import browser, press
from tests.unit.shared.test_schema import validator

SITE = "https://survey.example.org"
PRIVACY = "/dashboard/surveys/exam/privacy"


@pytest.fixture(scope="module")
def assets() -> dict[str, PageFile]:
    """Of the form's parts those that the page reads: to pack all of them takes a third of a second."""
    return {name: asset for name, asset in page_files().items() if name in {"catalogues/en.json", "catalogues/de.json"}}


@pytest.fixture
def app(storage: SQLiteStorage, clock: FakeClock, assets: dict[str, PageFile]) -> Flask:
    return create_app(Settings(public_url=SITE), storage, clock, assets)


def shown(app: Flask, *addresses: str) -> list[str]:
    client, _ = log_in(app)
    return [unescape(client.get(address, base_url=SITE).text) for address in addresses]


def test_page_and_print_say_the_same(app: Flask, storage: SQLiteStorage) -> None:
    storage.publish(survey())
    for told in shown(app, PRIVACY, f"{PRIVACY}/account.html"):
        assert "<small>epsilon</small> 2.20" in told
        assert "If yes is true, 75 of 100 people send yes" in told
        assert "Not stored anywhere: network addresses" in told
        assert "Public questions. They are sent as answered" in told


def test_question_of_every_mechanism_has_its_odds(app: Flask, storage: SQLiteStorage) -> None:
    """From the sentences that are served: its memory over waves, which a part of the form adds, is not among them."""
    storage.publish(survey(questions=every_type()))
    for told in shown(app, PRIVACY, f"{PRIVACY}/account.html", f"{PRIVACY}/account.json"):
        assert "A device remembers its first draw. Epsilon covers 2 waves together." in told


def test_own_facts_and_blocks_have_their_own_sentence(app: Flask, storage: SQLiteStorage) -> None:
    """No device draws for a fact, nobody sends yes to a crosswise question, and a block's answers are drawn at once."""
    own = {"share": "1/4", "source": {"en": "A register"}, "label": {"en": "Born in spring?"}}
    label, die = {"en": "Yes?"}, {**own, "label": {"en": "Born in June?"}, "truth": "2/3"}
    facts = [
        {"type": "boolean", "name": "first", "label": label, "procedure": "crosswise", "innocuous": own},
        {"type": "boolean", "name": "other", "label": label, "procedure": "unrelated_question", "innocuous": die},
    ]
    storage.publish(survey(questions=[block(in_block("a"), in_block("b", 3)), *facts]))
    for told in shown(app, PRIVACY, f"{PRIVACY}/account.html", f"{PRIVACY}/account.json"):
        assert "The device draws nothing: people say whether both or neither of two statements are true" in told
        assert "By a die and a second question, of 100 people whose true answer is yes" in told
        assert "2 answers are randomized together: of 100 people with the same answers, about 64 send exactly" in told
        assert "send yes to" not in told
        assert told.count("true answer yes") + told.count("after_yes") == 0


def test_list_and_account_round_epsilon_up(app: Flask, storage: SQLiteStorage) -> None:
    """Both pages show ln 2 (0.693...) as 0.70, since 0.69 would claim less than is spent."""
    label, ln_2 = {"en": "Yes?"}, {"name": "binary_rr", "a": "2/3", "b": "1/3"}
    storage.publish(survey(questions=[{"type": "boolean", "name": "q", "label": label, "mechanism": ln_2}]))
    listed, account = shown(app, "/dashboard/", PRIVACY)

    assert ">0.70<" in listed
    assert "<small>epsilon</small> 0.70" in account


def test_sums_are_those_that_the_survey_has(app: Flask, storage: SQLiteStorage) -> None:
    """No household, which it cannot know; a panel where it has waves."""
    storage.publish(survey())
    storage.publish(survey(name="panel", waves=months(3)))
    alone, panel = shown(app, PRIVACY, "/dashboard/surveys/panel/privacy")

    assert ("a household of" in alone + panel, "a panel of" in alone, "a panel of 3 waves" in panel) == (
        False,
        False,
        True,
    )


def test_account_is_in_the_languages_of_the_survey(app: Flask, storage: SQLiteStorage) -> None:
    storage.publish(
        survey(title={"en": "Exams", "de": "Prüfungen"}, consent={"en": "I agree.", "de": "Ich stimme zu."})
    )
    german, other = shown(app, f"{PRIVACY}/account.html?in=de", f"{PRIVACY}/account.html?in=fr")

    assert '<html lang="de" dir="ltr">' in german
    assert "Wenn Ja stimmt, senden 75 von 100 Menschen Ja" in german
    assert "Ich stimme zu." in german
    assert "2,9\u00a0%" in german
    assert "I agree." in other


def test_draft_has_an_account_before_anybody_can_answer(app: Flask, storage: SQLiteStorage) -> None:
    storage.drafts.add("exam", draft_of(document()).dumped)
    storage.drafts.add("begun", empty_draft("<script>", "en").dumped)
    told, unfinished = shown(app, PRIVACY, "/dashboard/surveys/begun/privacy")

    assert "account of the draft" in told
    assert "<small>epsilon</small> 2.20" in told
    assert "not finished" in unfinished
    assert "psilon</small>" not in unfinished


def test_draft_of_a_correction_stands_beside_what_is_published(app: Flask, storage: SQLiteStorage) -> None:
    """What people answer is shown first."""
    storage.publish(survey())
    storage.drafts.add("exam", draft_of(document(questions=document()["questions"][:1]), 2).dumped)
    published, draft = shown(app, PRIVACY, f"{PRIVACY}?of=draft")

    assert "<small>epsilon</small> 2.20" in published
    assert "?of=draft" in published
    assert "<small>epsilon</small> 2.20" not in draft
    assert "<small>epsilon</small> 1.10" in draft


def test_notice_names_who_is_responsible_or_says_that_nobody_is(app: Flask, storage: SQLiteStorage) -> None:
    storage.publish(survey())
    own = {
        "researcher": {"name": {"en": "Dr A. Example"}, "contact": "a@example.org"},
        "notice": {"en": "Our own notice."},
        "closes": "2026-12-01T00:00:00Z",
        "retention": {"delete_on": "2027-03-01"},
    }
    storage.publish(survey(name="full", **own))
    bare, full = shown(app, PRIVACY, "/dashboard/surveys/full/privacy")

    assert "does not name the responsible person or institution yet" in bare
    assert "does not set a day for deleting all its data" in bare
    for said in ("Responsible: Dr A. Example.", "a@example.org", "Our own notice.", "On March 1, 2027"):
        assert said in full


def test_data_keep_to_their_schema(app: Flask, storage: SQLiteStorage) -> None:
    storage.publish(survey())
    client, _ = log_in(app)
    reply = client.get(f"{PRIVACY}/account.json", base_url=SITE)

    validator("privacy").validate(reply.json)
    assert reply.json["digest"] == survey().digest


def test_blind_draft_has_no_digest_yet(app: Flask, storage: SQLiteStorage) -> None:
    """Its keys are part of it, and publishing makes them: no board is to note one that nobody will see."""
    blind = {"access": "blind", "privacy": {"send_within_hours": 24}}
    storage.drafts.add("exam", draft_of({**document(), **blind}).dumped)
    client, _ = log_in(app)
    account = client.get(f"{PRIVACY}/account.json?of=draft", base_url=SITE).json

    validator("privacy").validate(account)
    assert account["digest"] is None
    for told in shown(app, f"{PRIVACY}?of=draft", f"{PRIVACY}/account.html?of=draft"):
        assert "The digest is known once the survey is published" in told
    words = Words("en")
    assert words.translate("publish_digest_later") in lines(account, words)


def test_markup_in_texts_stays_text(app: Flask, storage: SQLiteStorage) -> None:
    evil = {"en": "<script>alert(1)</script>"}
    texts = {key: evil for key in ("title", "description", "consent", "notice")}
    questions = [{**each, "label": evil} for each in document()["questions"]]
    storage.publish(survey(**texts, questions=questions, researcher={"name": evil, "ethics": evil}))
    client, _ = log_in(app)
    told = [client.get(address, base_url=SITE).text for address in (PRIVACY, f"{PRIVACY}/account.html")]

    assert [page.count("<script>alert") for page in told] == [0, 0]


def test_unknown_name_has_no_account(app: Flask) -> None:
    client, _ = log_in(app)
    assert client.get(PRIVACY, base_url=SITE).status_code == 404


ANN = Account(b"a" * 16, "Ann")
BOARD = "/dashboard/surveys/exam/board"
LINK = re.compile(r"http://[^<]+(/dashboard/ethics\?link=[\w-]{20,})")


@pytest.fixture
def board_app(storage: SQLiteStorage, clock: FakeClock, assets: dict[str, PageFile]) -> Flask:
    storage.publish(survey(title={"en": "Exams", "de": "<b>Prüfungen</b>"}))
    storage.access.add_account(ANN)
    storage.access.grant(ANN.id, "exam", "owner")
    return create_app(Settings(), storage, clock, assets)


def make(board_app: Flask, **given: Any) -> str:
    [path] = LINK.findall(press(browser(board_app, ANN.id), BOARD, act="make", **({"days": "30"} | given)).text)
    return str(path)


def test_board_sees_every_text_and_the_account_and_no_results(board_app: Flask) -> None:
    """Without an account or a cookie, in every language; markup in a text stays text."""
    reply = board_app.test_client().get(make(board_app))

    assert reply.status_code == 200
    assert "Set-Cookie" not in reply.headers
    for text in ("Cheated?", "Fear", "&lt;b&gt;Prüfungen&lt;/b&gt;", "not in this language", "What is stored"):
        assert text in reply.text
    assert "Question 1: text" in reply.text
    assert "/questions/" not in reply.text
    assert "has not shared the results" in reply.text
    assert "Estimate" not in reply.text


def test_board_is_told_how_to_have_it_checked(board_app: Flask, storage: SQLiteStorage) -> None:
    """By commands that there are, for the revision that the link is bound to."""
    page = board_app.test_client().get(make(board_app)).text
    [commands] = re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", page, re.DOTALL)
    verify, fetch, audit = (shlex.split(line) for line in unescape(commands).splitlines())

    assert (verify[:3], audit[:4]) == (
        ["sottovoce", "device", "verify"],
        ["sottovoce", "audit", "survey.json", "--client"],
    )
    assert parse_link(verify[3]) == parse_link(audit[4])
    assert storage.revisions("exam")[0].digest.startswith(parse_link(verify[3]).digest)
    assert board_app.test_client().get(fetch[3]).data == storage.revisions("exam")[0].document


def test_results_are_shown_only_if_the_owner_says_so(board_app: Flask, storage: SQLiteStorage) -> None:
    """And that they were read stands in the journal, by nobody who has an account."""
    page = board_app.test_client().get(make(board_app, results="yes")).text

    assert "has not shared the results" not in page
    assert "Nothing to show yet" in page
    assert [entry.who for entry in storage.journal.latest(9) if entry.what == words.RESULTS_READ] == [words.NO_ACTOR]


def test_board_sees_no_exact_public_answers_beside_published_ones(board_app: Flask, storage: SQLiteStorage) -> None:
    """A board sees none of a question whose tables have noise; the cohort is never published so, and stays."""
    again = {"type": "boolean", "name": "again", "label": {"en": "Again?"}, "public": True}
    replaced = storage.revisions("exam")[-1].digest
    storage.publish(survey(revision=2, replaces=replaced, questions=[*document()["questions"], again]))
    path = make(board_app, results="yes")
    assert board_app.test_client().get(path).text.count("<h3><bdi>") == 4
    storage.releases.begin("exam", b"opened\n")
    page = board_app.test_client().get(path).text
    assert page.count("<h3><bdi>") == 3
    assert "<h3><bdi>Year?" in page


def test_link_ends_by_its_day_or_by_hand(board_app: Flask, storage: SQLiteStorage, clock: FakeClock) -> None:
    short, long = make(board_app, days="1"), make(board_app, days="366")
    client, ann = board_app.test_client(), browser(board_app, ANN.id)
    assert {view.hash for view in storage.access.views("exam")}.isdisjoint({short.encode(), long.encode()})
    assert "?link=" not in ann.get(BOARD).text
    clock.moment += timedelta(days=2)
    assert [client.get(path).status_code for path in (short, long)] == [404, 200]
    number = re.findall(r'name="view" value="(\w+)"', browser(board_app, ANN.id).get(BOARD).text)[-1]
    press(browser(board_app, ANN.id), BOARD, act="end", view=number)

    assert client.get(long).status_code == 404
    assert client.get("/dashboard/ethics?link=none").status_code == 404


def test_days_that_cannot_be_make_no_link(board_app: Flask, storage: SQLiteStorage) -> None:
    for days in ("0", "367", "", "-1", "\u0663"):
        reply = press(browser(board_app, ANN.id), BOARD, act="make", days=days)
        assert (reply.status_code, "from 1 to 366 days" in reply.text) == (422, True), days
    assert storage.access.views("exam") == []


def test_board_is_told_of_a_correction_and_goes_on_seeing_what_it_was_shown(
    board_app: Flask, storage: SQLiteStorage
) -> None:
    """The link is bound to the digest."""
    path = make(board_app)
    assert "was corrected after" not in board_app.test_client().get(path).text
    corrected = document(title={"en": "Other words"})
    storage.publish(survey(**(corrected | {"revision": 2})))
    page = board_app.test_client().get(path).text

    assert "was corrected after" in page
    assert "Other words" not in page
    assert "an earlier revision" in browser(board_app, ANN.id).get(BOARD).text
