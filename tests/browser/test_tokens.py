"""An invitation's link: it lets one person send one report, and its token goes nowhere but into one header."""

from hashlib import sha256
from secrets import token_hex

import pytest
from playwright.sync_api import BrowserContext, Page
from sottovoce.aggregator.invitations.tokens import revoke_tokens

from tests.browser.conftest import VIEWPORT, NewContext
from tests.browser.visit import KEPT, Visit, begin, press_send, publish, receipt, send
from tests.conftest import Running
from tests.surveys import survey

ANSWERS = (1, 2, 0)
TOKEN_ASKED = '{"token_sha256":"%s"}'


@pytest.fixture
def invited(site: Running) -> Running:
    return publish(site, survey(name=f"invited-{token_hex(4)}", access="token"))


@pytest.fixture
def person(new_context: NewContext, invited: Running) -> Visit:
    return Visit(new_context(viewport=VIEWPORT), invited)


def invitation(site: Running) -> tuple[str, str]:
    [token] = site.invite()
    return token, f"{site.link}&t={token}"


def counts(site: Running) -> tuple[int, int]:
    """Tokens spent and unspent."""
    storage = site.storage()
    found = storage.token_counts(storage.revisions(site.survey.name)[0].key)
    storage.close()
    return found.spent, found.unspent


def refusal(page: Page) -> str:
    """The words of a refusal after sending."""
    page.wait_for_selector("#main .problem h1")
    return page.inner_text("#main .problem")


def kept(context: BrowserContext, page: Page) -> str:
    """Everything that page and browser show or keep where others may look."""
    state = str(context.storage_state())
    return page.content() + page.title() + state + page.evaluate("JSON.stringify([{...localStorage}, history.state])")


def test_token_travels_in_one_header_only_and_is_spent(person: Visit, invited: Running) -> None:
    printed, link = invitation(invited)
    # Without the check letters.
    token = printed[:16]
    page = person.open(link)
    assert counts(invited) == (0, 1)
    send(page, *ANSWERS)

    asked = [request for request in person.requests if request.url == f"{invited.api}/token"]
    assert [request.post_data for request in asked] == [TOKEN_ASKED % sha256(token.encode()).hexdigest()]
    carrying = [request for request in person.requests if token in str(request.all_headers())]
    assert [(request.method, request.url) for request in carrying] == [("POST", f"{invited.api}/reports")]
    assert carrying[0].all_headers()["authorization"] == f"Bearer {token}"
    assert not any(token in request.url for request in person.requests)
    assert not any(token in body for body in person.bodies)
    assert token not in kept(person.context, page)
    assert counts(invited) == (1, 0)
    assert person.complaints == []


def test_spent_token_is_told_before_the_first_question(
    new_context: NewContext, person: Visit, invited: Running
) -> None:
    token, link = invitation(invited)
    shown = send(person.open(link), *ANSWERS)
    other = Visit(new_context(viewport=VIEWPORT), invited)
    page = other.arrive(link)
    page.wait_for_selector("#explanation:not(:has(> .actions .primary))")
    words = page.inner_text("#explanation")
    posted = [request.url for request in other.requests if request.method == "POST"]

    assert "This link cannot be used: it was used before, was taken back, or is mistyped." in words
    assert token not in words
    assert posted == [f"{invited.api}/token"]
    assert invited.reports() == 1
    assert receipt(person.open(link)) == shown
    assert len(person.bodies) == 1


def test_token_spent_in_between_is_a_refusal_in_words(person: Visit, invited: Running) -> None:
    token, link = invitation(invited)
    page = person.open(link)
    storage = invited.storage()
    revoke_tokens(storage, invited.survey.name, [token])
    storage.close()
    press_send(page, *ANSWERS)

    assert "This link cannot be used: it was used before, was taken back, or is mistyped." in refusal(page)
    assert invited.reports() == 0


def test_link_without_a_token_is_refused_before_it_asks(person: Visit, invited: Running) -> None:
    for link in (invited.link, f"{invited.link}&t=short"):
        page = person.open(link)
        assert page.locator("fieldset").count() == 0
        assert "invitation" in page.inner_text("#main .problem") or "link" in page.inner_text("#main .problem")
    assert person.bodies == []
    assert invited.reports() == 0


ONLY = {"open": [], "token": ["POST /api/v1/surveys/{name}/token"], "blind": ["POST /api/v1/surveys/{name}/redeem"]}
"""What is posted before the first step, by who may answer."""


@pytest.mark.parametrize("access", ONLY)
def test_one_request_from_the_first_step_to_the_receipt(new_context: NewContext, keyed: Running, access: str) -> None:
    """Whatever the link is: what has to be asked was asked before, a signature after a press on a step of its own."""
    site = keyed if access == "blind" else publish(keyed, survey(name=f"one-{access}", access=access))
    link = site.link if access == "open" else invitation(site)[1]
    visit = Visit(new_context(), site)
    page = visit.arrive(link)
    if access == "blind":
        page.evaluate(KEPT)
        assert [path for path in visit.paths if path.startswith("POST")] == []
        page.click("#invitation .primary")
    page.wait_for_selector("#explanation > .actions .primary:enabled")
    page.evaluate(KEPT)
    before = visit.paths
    begin(page)
    send(page, *ANSWERS)

    name = site.survey.name
    assert [path for path in before if path.startswith("POST")] == [path.format(name=name) for path in ONLY[access]]
    assert visit.paths[len(before) :] == [f"POST /api/v1/surveys/{name}/reports"]
    visit.arrive(link).wait_for_selector("#receipt")
