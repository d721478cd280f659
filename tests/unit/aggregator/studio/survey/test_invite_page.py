"""Invite: what it gives to hand out works, is made once, and tells nothing of who has answered."""

import csv
import io
import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from flask import Flask
from sottovoce.aggregator.accounts.authentication import new_key
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.authoring.invitation_texts import letter
from sottovoce.aggregator.i18n.translator import Words, only_here
from sottovoce.aggregator.invitations.personal_links import links_csv
from sottovoce.aggregator.invitations.posters import PosterContent, cards, poster
from sottovoce.aggregator.invitations.qr_codes import png, svg_file
from sottovoce.aggregator.invitations.tokens import create_tokens, revoke_tokens, token_counts
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.client.link import parse_link
from sottovoce.client.page import saved_page
from sottovoce.shared.redemption import spell_modulus

from tests.conftest import FakeClock
from tests.invited import blind_survey
from tests.page_files import page_files
from tests.qr_reader import read_qr
from tests.surveys import document, months, survey
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.conftest import SITE

INVITE = "/dashboard/surveys/exam/invite"


def browser(app: Flask) -> Any:
    return log_in(app)[0]


@pytest.fixture
def client(app: Flask, storage: SQLiteStorage) -> Any:
    storage.publish(survey(access="token"))
    return browser(app)


def page(client: Any, address: str = INVITE, **options: Any) -> str:
    return unescape(client.get(address, base_url=SITE, **options).text)


def make(client: Any, count: object, kind: str = "table", shown: str = "") -> Any:
    fields = dict(re.findall(r'name="(form_token|batch|wave)" value="([^"]*)"', shown or page(client)))
    headers = {"Sec-Fetch-Site": "same-origin"}
    data = {**fields, "count": str(count), "as": kind}
    return client.post(f"{INVITE}/links", data=data, headers=headers, base_url=SITE)


def links_in(reply: Any) -> list[str]:
    return [row["link"] for row in csv.DictReader(io.StringIO(reply.text))]


def test_codes_and_poster_lead_to_the_link(app: Flask, storage: SQLiteStorage) -> None:
    """What a telephone reads from the picture is the address that the page shows."""
    published = storage.publish(survey())
    link = f"{SITE}/s/exam#d={published.digest[:32]}"
    client = browser(app)

    assert link in page(client)
    assert read_qr(client.get(f"{INVITE}/qr.png", base_url=SITE).data) == [link]
    assert 'viewBox="0 0 ' in client.get(f"{INVITE}/qr.svg", base_url=SITE).text
    assert link in page(client, f"{INVITE}/poster")


@pytest.mark.parametrize(("site", "warned"), [("http://127.0.0.1:8000", True), (SITE, False)])
def test_links_that_work_only_here_carry_a_warning(site: str, warned: bool) -> None:
    """Wherever they are handed out; a red code is still one that a telephone reads."""
    asked = survey()
    link = Settings(public_url=site).link("exam", asked.digest)
    words = Words("en")
    told = {
        "table": links_csv([("t", link)], trial=False, words=words),
        "poster": poster(PosterContent(asked, 0, words), link),
        "card": cards(PosterContent(asked, 0, words), [link]),
        "letter": letter(asked, link, "en"),
        "code": svg_file(link, only_here(link, words)).decode(),
    }
    said = "This link works only on this" in re.sub(r"<[^>]*>", " ", told["code"])
    assert {key for key, text in told.items() if "works only" in text} == (set(told) if warned else set())
    assert said is warned
    assert read_qr(png(link, warns=warned)) == [link]


def test_table_of_links_warns_once() -> None:
    """A letter of its length in each of many rows hides the links."""
    link = Settings(public_url="http://127.0.0.1:8000").link("exam", survey().digest)
    table = links_csv([(str(token), link) for token in range(3)], trial=False, words=Words("en"))
    assert [row["warning"] != "" for row in csv.DictReader(table.splitlines())] == [True, False, False]


def test_page_of_links_that_work_only_here_says_so(storage: SQLiteStorage, clock: FakeClock) -> None:
    storage.publish(survey())
    settings = Settings(public_url="http://localhost:8000", trusted_hosts="survey.example.org")
    client = browser(create_app(settings, storage, clock, {}))
    assert 'class="error">This link works only on this computer' in page(client)


def test_personal_links_are_many_at_once_and_each_is_good(client: Any, storage: SQLiteStorage) -> None:
    links = links_in(make(client, 10_000))

    assert len(set(links)) == 10_000
    assert {parse_link(link).survey for link in links} == {"exam"}
    assert token_counts(storage, "exam").created == 10_000


def test_one_form_makes_its_links_once(client: Any, storage: SQLiteStorage) -> None:
    """A reload gives the same, and the cards hold those of the table; another number of them is refused in words."""
    shown = page(client)
    links = links_in(make(client, 3, shown=shown))
    sheet = make(client, 3, "cards", shown)

    assert links_in(make(client, 3, shown=shown)) == links
    assert [link for link in links if link.replace("&", "&amp;") not in sheet.text] == []
    assert make(client, 4, shown=shown).status_code == 409
    assert token_counts(storage, "exam").created == 3
    assert links_in(make(client, 3)) != links


def test_another_session_does_not_get_the_links_of_a_form(client: Any, storage: SQLiteStorage) -> None:
    """Who finds a page that somebody kept cannot have its links made again."""
    shown = page(client)
    links = links_in(make(client, 3, shown=shown))
    token, digest = new_key()
    storage.add_researcher("bob", digest)
    signed_in = {"data": {"token": token}, "headers": {"Sec-Fetch-Site": "same-origin"}, "base_url": SITE}
    client.post("/dashboard/login", **signed_in)
    batch = re.search('name="batch" value="[^"]*"', shown)
    own = re.sub('name="batch" value="[^"]*"', batch[0] if batch else "", page(client))
    again = links_in(make(client, 3, shown=own))

    assert len(again) == 3
    assert not set(again) & set(links)


def test_senseless_number_makes_nothing(client: Any, storage: SQLiteStorage) -> None:
    for count in ("", "0", "-1", "1.5", "100001", "9" * 5000, "<b>"):
        reply = make(client, count)
        assert (reply.status_code, "from 1 to 100,000" in reply.text) == (400, True), count[:9]
    assert token_counts(storage, "exam").created == 0


def test_cards_at_once_have_a_limit(client: Any, storage: SQLiteStorage) -> None:
    """Drawing takes time, which reports must not wait for."""
    assert make(client, 801, "cards").status_code == 400
    assert token_counts(storage, "exam").created == 0


def test_taking_one_link_back_moves_no_number(client: Any, storage: SQLiteStorage) -> None:
    """Or it would tell whether that link's person has answered."""
    token = create_tokens(storage, "exam", 30)[0]
    before = re.findall("<dd>.*</dd>", page(client))
    revoke_tokens(storage, "exam", [token])

    assert re.findall("<dd>.*</dd>", page(client)) == before


def take_back(client: Any, given: str) -> Any:
    fields = dict(re.findall(r'name="(form_token)" value="([^"]*)"', page(client)))
    headers = {"Sec-Fetch-Site": "same-origin"}
    return client.post(f"{INVITE}/links/back", data={**fields, "back": given}, headers=headers, base_url=SITE)


def test_links_are_taken_back_as_they_were_handed_out(client: Any, storage: SQLiteStorage) -> None:
    """As rows, links or tokens; used, unknown and good ones get the same reply, so that it tells of nobody."""
    table = make(client, 4).text.splitlines()[1:]
    first, second, third, _ = ([*row.split(",")] for row in table)
    replies = [take_back(client, given) for given in (table[0], second[1], third[0], first[1], "nothing")]

    assert {reply.status_code for reply in replies} == {200}
    assert len({re.sub('value="[^"]*"', "", reply.text) for reply in replies}) == 1
    assert token_counts(storage, "exam").revoked == 3
    assert take_back(client, " ").status_code == 400


def test_what_a_restore_holds_is_said_with_the_command_that_lets_it_go(app: Flask, storage: SQLiteStorage) -> None:
    """Not among those that were used; one that is taken back moves nothing that the page shows."""
    key = storage.publish(blind_survey()).key
    links = create_tokens(storage, "exam", 60)
    client = browser(app)
    assert "On hold since" not in page(client)
    storage.hold_invitations()
    shown = page(client)
    assert re.search(r"On hold since the restore of [^<]* 20\d\d, at most</dt><dd>60<", shown)
    assert "Redeemed</dt><dd>0<" in shown
    assert "sottovoce link reissue exam<" in shown
    revoke_tokens(storage, "exam", links[:1])
    assert "at most</dt><dd>60<" in page(client)
    revoke_tokens(storage, "exam", links[:20])
    assert "at most</dt><dd>50<" in page(client)
    storage.reissue_invitations(key)
    assert "On hold since" not in page(client)


def test_survey_with_personal_links_shows_no_common_one(client: Any) -> None:
    """The link without a token would let nobody in."""
    assert 'id="link"' not in page(client)


def test_page_says_what_is_true_of_blind_links(app: Flask, storage: SQLiteStorage) -> None:
    """They are redeemed, and nobody can find what one of them brought."""
    access = {"access": {"blind": [spell_modulus(2**2047 + 1)]}, "privacy": {"send_within_hours": 24}}
    storage.publish(survey(**access))
    storage.publish(survey(name="other", access="token"))
    client = browser(app)
    blind, token = page(client), page(client, "/dashboard/surveys/other/invite")

    for said in ("It is redeemed once", "cannot be looked up", "<dt>Redeemed</dt>", "not redeemed yet"):
        assert (said in blind, said in token) == (True, False)
    for said in ("does not record which link", "<dt>Used</dt>", "which of them were used"):
        assert (said in blind, said in token) == (False, True)


def test_closed_survey_says_so_in_place_of_inviting(client: Any, storage: SQLiteStorage) -> None:
    shown = page(client)
    storage.close_survey("exam", 20_000)

    assert "no longer invite people" in page(client)
    assert '<form method="post" action="/dashboard/surveys' not in page(client)
    assert make(client, 1, shown=shown).status_code == 409
    assert token_counts(storage, "exam").created == 0


def test_each_wave_has_its_link(app: Flask, storage: SQLiteStorage, clock: FakeClock) -> None:
    parsed = survey(waves=months(3))
    storage.publish(parsed)
    first = parsed.waves[0].closes
    assert first is not None
    clock.moment = first + timedelta(days=1)
    client = browser(app)

    assert "&w=1\n" in page(client).replace("</code>", "\n")
    assert "&w=2\n" in page(client, f"{INVITE}?wave=2").replace("</code>", "\n")
    assert read_qr(client.get(f"{INVITE}/qr.png?wave=2", base_url=SITE).data)[0].endswith("&w=2")
    assert "This wave is over" in page(client, f"{INVITE}?wave=0")
    assert "add a wave" not in page(client, f"{INVITE}?wave=0")


def test_panel_whose_waves_are_over_leads_to_the_next(app: Flask, storage: SQLiteStorage, clock: FakeClock) -> None:
    parsed = survey(waves=months(2))
    storage.publish(parsed)
    last = parsed.waves[-1].closes
    assert last is not None
    clock.moment = last + timedelta(days=1)

    assert re.search(r'href="/dashboard/surveys/exam/design">[^<]*add a wave', page(browser(app)))


def test_correction_is_what_people_are_invited_to(app: Flask, storage: SQLiteStorage) -> None:
    storage.publish(survey())
    newest = storage.publish(survey(revision=2, title={"en": "Exams, corrected"}))

    assert f"#d={newest.digest[:32]}" in page(browser(app))
    assert "revision 2" in page(browser(app))


def test_no_page_is_offered_a_frame_with_the_form(app: Flask, storage: SQLiteStorage) -> None:
    """A page around the form could watch where people press."""
    storage.publish(survey())
    assert "iframe" not in page(browser(app))


def test_saved_file_is_the_one_that_the_command_line_writes(storage: SQLiteStorage, clock: FakeClock) -> None:
    parsed = survey(title={"en": "</script> Exams"})
    storage.publish(parsed)
    app = create_app(Settings(public_url=SITE), storage, clock, {"saved.json": page_files()["saved.json"]})

    assert browser(app).get(f"{INVITE}/saved.html", base_url=SITE).data == saved_page(SITE, parsed)


def test_markup_in_a_title_stays_text(app: Flask, storage: SQLiteStorage) -> None:
    storage.publish(survey(access="token", title={"en": "<script>alert(1)</script>"}))
    client = browser(app)
    told = [client.get(address, base_url=SITE).text for address in (INVITE, f"{INVITE}/poster")]

    assert not [text for text in [*told, make(client, 1, "cards").text] if "<script>alert" in text]


def test_completion_link_is_told(app: Flask, storage: SQLiteStorage) -> None:
    storage.publish(survey(after={"link": "https://panel.example/done"}))
    assert "https://panel.example/done" in page(browser(app))


def test_survey_in_no_language_of_the_studio_has_a_poster(app: Flask, storage: SQLiteStorage) -> None:
    """Its own texts stand in sentences of the language that is asked for."""
    text = document()
    questions = [{**each, "label": {"nl": "Vraag"}} for each in text["questions"][:1]]
    storage.publish(survey(default_language="nl", title={"nl": "Tentamens"}, questions=questions))
    shown = page(browser(app), f"{INVITE}/poster?in=ar")

    assert '<html lang="ar" dir="rtl">' in shown
    assert '<h1 class="short" lang="nl" dir="auto">Tentamens</h1>' in shown


def test_letters_hold_the_links_of_the_table(client: Any) -> None:
    shown = page(client)
    links = links_in(make(client, 3, shown=shown))
    letters = list(csv.DictReader(io.StringIO(make(client, 3, "letters", shown).text, newline="")))

    assert [row["link"] for row in letters] == links
    assert [row["link"] for row in letters if row["link"] not in row["letter"]] == []


def test_texts_are_in_the_language_that_is_asked_for(app: Flask, storage: SQLiteStorage) -> None:
    storage.publish(survey(title={"en": "Exams", "de": "Prüfungen"}))
    client = browser(app)

    assert "Umfrage „Prüfungen“" in page(client, f"{INVITE}?in=de")
    assert "survey “Exams”" in page(client, f"{INVITE}?in=fr")
