import re
from html import unescape

import pytest
from flask import Flask
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.authoring.question_snippets import HOSTS
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.studio.design.elsewhere_page import SYSTEMS
from sottovoce.client.question_page import question_assets
from sottovoce.shared.single_question import parse_asked, parse_question

from tests.conftest import FakeClock
from tests.surveys import document, survey
from tests.unit.aggregator.conftest import SITE
from tests.unit.aggregator.studio.design.test_page import Researcher
from tests.unit.cli.test_question import question_in

PAGE = "surveys/exam/elsewhere"
TEXTS = ("title", "description", "consent")
CHEATED, REASON = document()["questions"][:2]


@pytest.fixture
def app(storage: SQLiteStorage, clock: FakeClock) -> Flask:
    return create_app(Settings(public_url=SITE), storage, clock, question_assets())


def lines_of(page: str) -> str:
    found = re.search(r'<pre [^>]*id="lines"[^>]*><code>(.*?)</code>', page, re.DOTALL)
    return unescape(found[1]) if found else ""


@pytest.mark.parametrize("system", HOSTS)
def test_lines_carry_the_question_chosen(ann: Researcher, storage: SQLiteStorage, system: str) -> None:
    storage.publish(survey())
    page = ann.get(f"{PAGE}?question=reason&system={system}")
    assert question_in(lines_of(page)) == parse_question(REASON).document
    assert f"{SITE}/q/1/" in lines_of(page)
    assert parse_question(REASON).digest in page
    assert "reason_channel" in page
    assert "sottovoce results estimate" in page


def test_each_system_has_a_name() -> None:
    """In the list that people choose from."""
    assert set(SYSTEMS) == set(HOSTS)


def test_other_address_and_a_wrong_one(ann: Researcher, storage: SQLiteStorage) -> None:
    storage.publish(survey())
    assert "https://q.example.org/q/1/element-" in lines_of(ann.get(f"{PAGE}?frame=https://q.example.org/q/1/"))
    wrong = ann.get(f'{PAGE}?frame=javascript:"><b>/')
    assert lines_of(wrong) == ""
    assert "such as https://" in wrong
    assert "<b>/" not in wrong
    assert "works only on this computer" in ann.get(f"{PAGE}?frame=http://localhost:8000/q/1/")


def test_only_what_can_be_asked_alone_is_offered(ann: Researcher, storage: SQLiteStorage) -> None:
    tied = {**REASON, "visible_if": {"cheated": "yes"}, "when_absent": "time"}
    storage.publish(survey(questions=[CHEATED, tied, document()["questions"][2]]))
    page = ann.get(PAGE)
    assert re.findall(r'<option value="(cheated|reason|year)"', page) == ["cheated", "reason"]
    assert "visible_if" not in ann.get(f"{PAGE}?question=reason")
    storage.publish(survey(name="open", questions=[document()["questions"][2]]))
    assert "can be asked alone" in ann.get("surveys/open/elsewhere")


def test_question_without_a_text_in_the_readers_language_has_one_of_its_own(
    ann: Researcher, storage: SQLiteStorage
) -> None:
    german = {**CHEATED, "label": {"de": "Abgeschrieben?"}}
    storage.publish(survey(default_language="de", questions=[german], **{key: {"de": "Wort"} for key in TEXTS}))
    assert "Abgeschrieben?</option>" in ann.get(PAGE)


def test_block_is_offered_with_the_columns_of_each_question(ann: Researcher, storage: SQLiteStorage) -> None:
    """A condition within it is left behind; LimeSurvey has no place for its columns, and is not among the systems."""
    copied = {"type": "boolean", "name": "copied", "label": {"en": "Copied?"}}
    lied = {**copied, "name": "lied", "label": {"en": "Lied?"}}
    made = {"block": "intimate", "mechanism": {"name": "joint_rr", "odds": "9", "radius": 0}, "items": [copied, lied]}
    tied = {**lied, "visible_if": {"copied": "yes"}, "when_absent": "no"}
    storage.publish(survey(questions=[CHEATED, {**made, "items": [copied, tied]}]))
    page = ann.get(f"{PAGE}?question=intimate&system=limesurvey")
    expected = parse_asked({**made, "items": [copied, {**lied, "when_absent": "no"}]})
    assert question_in(lines_of(page)) == expected.document
    assert expected.digest in page
    assert re.findall(r"<code dir=\"ltr\">(\w+)_channel", page) == ["copied", "lied"]
    assert 'value="limesurvey"' not in page
    assert 'value="limesurvey" selected' in ann.get(f"{PAGE}?question=cheated&system=limesurvey")
    storage.drafts.add("other", draft_of({**document(), "name": "other", "questions": [made]}).dumped)
    assert 'value="elsewhere:intimate"' in ann.get("surveys/other/design")


def test_button_on_the_card_leads_there(ann: Researcher, storage: SQLiteStorage) -> None:
    storage.drafts.add("exam", draft_of(document()).dumped)
    button = re.search(r'value="(elsewhere:cheated)"', ann.get("surveys/exam/design"))
    assert button
    reply = ann.post("surveys/exam/design", version="1", do=button[1], **{"q0.label.en": "Copied?"})
    assert reply.location.endswith("/surveys/exam/elsewhere?question=cheated")
    assert "Copied?" in str(question_in(lines_of(ann.get(f"{PAGE}?question=cheated"))))
    ann.post("surveys/exam/design", version="2", do="save", **{"q0.label.en": ""})
    assert "design#problems" in ann.get(PAGE)
