"""What the form refuses, it refuses before it asks; and it sends nothing."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, Route

from tests.browser.test_traces import EVERYTHING_KEPT
from tests.browser.visit import Visit, receipt, send, stored

NO_RANDOMNESS = "delete Crypto.prototype.getRandomValues"
NO_LEDGER = "Object.defineProperty(globalThis, 'indexedDB', { value: undefined })"


def refused(visit: Visit, page: Page) -> str:
    """The words of a refusal that asked nothing and sent nothing."""
    assert page.locator("fieldset").count() == 0
    assert visit.bodies == []
    assert "Nothing was sent." in page.inner_text("#main .problem")
    return page.inner_text("#main .problem")


def test_other_digest_is_refused(visit: Visit) -> None:
    """The survey is not the one that the link names."""
    page = visit.open(f"{visit.site.url}/s/marriage#d={'0' * 32}")
    assert "not the survey that your link names" in refused(visit, page)


@pytest.mark.parametrize("digest", ["0" * 31, "xyz", "0" * 64])
def test_damaged_digest_is_refused(visit: Visit, digest: str) -> None:
    """A digest cut short by a mail program does not count as none."""
    assert "missing or mistyped" in refused(visit, visit.open(f"{visit.site.url}/s/marriage#d={digest}"))


def test_link_without_digest_is_noted(visit: Visit) -> None:
    assert "cannot check" in visit.arrive(f"{visit.site.url}/s/marriage").inner_text(".note")


@pytest.mark.parametrize("fragment", ["", "#d={digest}"])
def test_tampered_spec_is_refused(visit: Visit, tampered: str, fragment: str) -> None:
    """A coin that tells the truth 99 times of 100 is refused, whether or not the link pins the survey."""
    before = stored(visit.site)
    visit.context.route("**/api/v1/surveys/marriage", lambda route: route.fulfill(body=tampered))
    page = visit.open(f"{visit.site.url}/s/marriage{fragment.format(digest=visit.site.survey.digest[:32])}")

    refused(visit, page)
    assert before == stored(visit.site)


@pytest.mark.parametrize(
    ("script", "words"), [(NO_RANDOMNESS, "no safe source of random numbers"), (NO_LEDGER, "remember what it sent")]
)
def test_device_without_its_means_is_refused(visit: Visit, script: str, words: str) -> None:
    visit.context.add_init_script(script)
    assert words in refused(visit, visit.open())


def test_insecure_context_is_refused(visit: Visit) -> None:
    """Over plain HTTP from another host somebody on the way could change the page."""
    visit.context.route("http://plain.test/**", _from(visit.site.url))
    page = visit.open(f"http://plain.test/s/marriage#d={visit.site.survey.digest[:32]}")

    assert page.evaluate("isSecureContext") is False
    assert "secure connection" in refused(visit, page)


def test_unknown_survey_is_refused(visit: Visit) -> None:
    assert "There is no survey at this address." in refused(visit, visit.open(f"{visit.site.url}/s/nothing"))


def test_other_version_buys_no_second_draw(visit: Visit, page: Page) -> None:
    """Who has answered one text of the survey is not asked under another, but shown what was sent."""
    shown = send(page, 1, 1, 1, 1, 1)
    revised = visit.site.survey.canonical.decode().replace('"revision":1', '"revision":2')
    visit.context.route("**/api/v1/surveys/marriage", lambda route: route.fulfill(body=revised))

    assert shown == receipt(visit.open(f"{visit.site.url}/s/marriage"))
    assert len(visit.bodies) == 1


def test_other_link_in_the_same_tab_is_read(page: Page, visit: Visit) -> None:
    """Pasting another fragment is another link, not the page already open."""
    with page.expect_navigation(wait_until="load"):
        page.evaluate(f"location.hash = 'd={'0' * 32}'")
    page.wait_for_selector("#main .problem h1")

    refused(visit, page)


def _from(url: str) -> Callable[[Route], None]:
    def answer(route: Route) -> None:
        route.fulfill(response=route.fetch(url=route.request.url.replace("http://plain.test", url)))

    return answer


def _first_question_unknown(text: str) -> str:
    return text.replace('"type":"boolean"', '"type":"oracle"', 1)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text[:-1],
        lambda text: "[]",  # noqa: ARG005 - whatever the survey was
        lambda text: text.replace("sottovoce-survey/1", "sottovoce-survey/2"),
        lambda text: text.replace('"revision":1', '"revision":1.0'),
        _first_question_unknown,
    ],
    ids=["cut short", "no survey", "newer format", "not canonical", "unknown type"],
)
def test_survey_that_cannot_be_read_is_refused(visit: Visit, change: Callable[[str], str]) -> None:
    """Whether or not the link pins it: a sentence, no question, nothing sent or kept."""
    text = change(visit.site.survey.canonical.decode())
    assert text != visit.site.survey.canonical.decode()
    visit.context.route("**/api/v1/surveys/marriage", lambda route: route.fulfill(body=text))
    page = visit.open(f"{visit.site.url}/s/marriage")

    assert "The survey has a mistake" in refused(visit, page)
    assert page.evaluate(EVERYTHING_KEPT) == []


@pytest.mark.parametrize("year", [1999, 2055])
def test_clock_that_is_years_off_changes_nothing(visit: Visit, year: int) -> None:
    """The device's clock is asked for nothing: the aggregator alone says when a survey is open."""
    visit.context.clock.set_fixed_time(datetime(year, 1, 1, tzinfo=UTC))
    shown = send(visit.open(), 1, 0, 2, 3, 1)

    assert shown["id"] in stored(visit.site)


def test_survey_that_is_not_given_is_told(visit: Visit) -> None:
    visit.context.route("**/api/v1/surveys/marriage", lambda route: route.fulfill(status=410, body='{"code":"gone"}'))
    words = refused(visit, visit.open())
    assert "The survey’s server refused." in words
    assert not {"410", "gone"} & set(words.split())


@pytest.mark.parametrize("end", [".", ">", ").", ","])
def test_end_of_a_sentence_is_no_part_of_the_link(visit: Visit, end: str) -> None:
    """A mail program may take it for one; the survey opens all the same."""
    assert visit.arrive(f"{visit.site.link}{end}").locator("#explanation").count() == 1
