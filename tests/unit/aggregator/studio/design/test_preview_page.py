import json
import re
from base64 import b64encode
from hashlib import sha256
from typing import Any

import pytest
from flask import Flask
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.authoring.draft import empty_draft
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.client.page import preview

from tests.conftest import FakeClock
from tests.page_files import page_files
from tests.surveys import document, survey
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.conftest import SITE
from tests.unit.aggregator.studio.design.test_page import Researcher

FORM = "/dashboard/surveys/exam/preview/s/exam"
CATALOGUES = {name: asset for name, asset in page_files().items() if name.startswith("catalogues/")}


@pytest.fixture
def app(storage: SQLiteStorage, clock: FakeClock) -> Flask:
    return create_app(Settings(public_url=SITE), storage, clock, CATALOGUES, preview)


def form_of(app: Flask, query: str = "", address: str = FORM) -> Any:
    return log_in(app)[0].get(f"{address}{query}", base_url=SITE)


def setup_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="setup">(.*?)</script>', page, re.DOTALL)
    assert found
    return dict(json.loads(found[1]))


def digest_of(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def test_frame_may_run_the_one_script_and_reach_nobody(app: Flask, storage: SQLiteStorage) -> None:
    """Its policy sandboxes it, and allows script and style by the digest of what is there."""
    storage.publish(survey())
    reply = form_of(app)
    style = re.findall(r"<style>(.*?)</style>", reply.text.rpartition("</script>")[2], re.DOTALL)
    script = re.search(r'<script type="module">(.*?)</script>', reply.text, re.DOTALL)
    assert len(style) == 1
    assert script
    assert reply.headers["Content-Security-Policy"] == (
        f"sandbox allow-scripts allow-forms; default-src 'none'; script-src {digest_of(script[1])}; "
        f"style-src {digest_of(style[0])}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )
    assert reply.headers["Cache-Control"] == "no-store"


def test_frame_holds_the_survey_and_the_languages_that_it_needs(app: Flask, storage: SQLiteStorage) -> None:
    """The survey's bytes, the chosen language's sentences and the banner in it; of other languages nothing."""
    storage.publish(survey(title={"en": "Exams", "ar": "الامتحانات", "de": "Prüfungen"}))
    page = form_of(app, "?in=ar").text
    setup = setup_of(page)
    stored = storage.revisions("exam")[0]
    assert setup["survey"] == {"name": "exam", "digest": stored.digest[:32], "text": stored.document.decode()}
    assert set(setup["catalogues"]) == {"ar", "en"}
    assert setup["languages"] == ["ar", "ar"]
    assert "معاينة" in page


def test_text_of_a_survey_ends_no_element_of_the_frame(app: Flask, storage: SQLiteStorage) -> None:
    storage.drafts.add("exam", draft_of(document(title={"en": "</script><script>alert(1)</script>"})).dumped)
    page = form_of(app).text
    assert "<script>alert" not in page
    assert "<script>alert(1)" in json.loads(setup_of(page)["survey"]["text"])["title"]["en"]


def test_draft_goes_before_what_is_published(app: Flask, storage: SQLiteStorage) -> None:
    """A correction is looked at before anybody is shown it."""
    storage.publish(survey())
    storage.drafts.add("exam", draft_of(document(title={"en": "Corrected"}), 2).dumped)
    assert "Corrected" in setup_of(form_of(app).text)["survey"]["text"]


def test_page_has_a_sandboxed_frame_at_the_chosen_size(app: Flask, storage: SQLiteStorage) -> None:
    storage.publish(survey(access="token"))
    reply = log_in(app)[0].get("/dashboard/surveys/exam/preview?size=desktop&in=ar", base_url=SITE)
    assert reply.headers["Content-Security-Policy"].endswith("frame-src 'self'")
    frame = re.search(r"<iframe[^>]*>", reply.text)
    assert frame
    assert frame[0] == (
        '<iframe class="previewed desktop" title="Preview of the form" sandbox="allow-scripts allow-forms" '
        f'src="{FORM}?in=ar#t=0000000000000000">'
    )
    assert "The preview needs JavaScript" in reply.text


def test_draft_that_is_no_survey_yet_says_what_it_lacks(app: Flask, storage: SQLiteStorage) -> None:
    storage.drafts.add("exam", empty_draft("Exams", "en").dumped)
    page = Researcher(app).get("surveys/exam/preview")
    assert "<iframe" not in page
    assert 'href="/dashboard/surveys/exam/design#add"' in page
    assert 'action="/dashboard/surveys/exam/preview/trial"' not in page
    assert form_of(app).status_code == 404


def test_preview_weighs_little_with_everything(app: Flask, storage: SQLiteStorage) -> None:
    storage.publish(survey(title={"en": "Exams", "de": "Prüfungen"}))
    parts = ("surveys/exam/preview", "style.css", "studio.js", "surveys/exam/preview/s/exam?in=de")
    headers = {"Accept-Encoding": "gzip, br", "Sec-Fetch-Site": "same-origin"}
    client = log_in(app)[0]
    replies = [client.get(f"/dashboard/{part}", base_url=SITE, headers=headers) for part in parts]
    assert [reply.headers["Content-Encoding"] for reply in replies] == ["br"] * 4
    *own, frame = (len(reply.data) for reply in replies)
    assert (sum(own) <= 60_000, own[2] <= 10_000, frame <= 60_000) == (True, True, True)


def test_form_beside_the_questions_has_a_link_that_opens_it(app: Flask, storage: SQLiteStorage) -> None:
    """With a token where the survey asks for one: the form would else refuse its reader."""
    client = log_in(app)[0]
    for access, anchor in (("open", ""), ("token", "#t=0000000000000000")):
        storage.drafts.add("exam", draft_of({**document(), "name": "exam", "access": access}).dumped)
        page = client.get("/dashboard/surveys/exam/design", base_url=SITE).text
        assert f'src="{FORM}?at=0{anchor}"' in page
        storage.drafts.delete("exam")


def test_frame_of_another_address_is_not_there(app: Flask, storage: SQLiteStorage) -> None:
    storage.publish(survey())
    for address in (FORM.replace("s/exam", "s/other"), FORM.replace("exam", "nobody")):
        assert form_of(app, address=address).status_code == 404
