"""The form in a frame of another site: where it is allowed, it says when it is done; elsewhere it does not open."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import FrameLocator, Page
from sottovoce.demo.run import demo_survey

from tests.browser.conftest import NewContext
from tests.browser.hosts import serving
from tests.browser.visit import Visit, stored
from tests.conftest import Running, start

ANSWERS = (1, 0, 2, 3, 1)
PARENT = """<!doctype html><iframe src="{link}" width="360" height="700"></iframe>
<script>told = []; addEventListener("message", (event) => told.push([event.origin, event.data]));</script>"""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, str, str]]:
    """An aggregator, and two other sites whose pages hold its form; it lets the first of them do so."""
    folder = tmp_path_factory.mktemp("sites")
    with (
        serving(folder) as allowed,
        serving(folder) as refused,
        start(tmp_path_factory.mktemp("embedded") / "data", demo_survey(), embed_origins=allowed) as embedded,
    ):
        (folder / "index.html").write_text(PARENT.format(link=embedded.link))
        yield embedded, allowed, refused


@pytest.fixture
def sites(new_context: NewContext, hosts: tuple[Running, str, str]) -> tuple[Visit, str, str]:
    """A visitor, the site that may hold the form, and the one that may not."""
    return Visit(new_context(), hosts[0]), hosts[1], hosts[2]


def around(visit: Visit, origin: str) -> tuple[Page, FrameLocator]:
    """The page of another site, and the frame in it."""
    page = visit.context.new_page()
    page.goto(origin)
    return page, page.frame_locator("iframe")


def test_allowed_page_is_told_once_and_nothing_more(sites: tuple[Visit, str, str]) -> None:
    """One event without data, after the receipt; a reload of the frame tells of the same report."""
    visitor, allowed, _ = sites
    page, frame = around(visitor, allowed)
    frame.locator("#explanation > .actions .primary").click()
    frame.locator("#check button:not(.primary)").click()
    for question, option in enumerate(ANSWERS):
        frame.locator(f"#q{question}-{option}").check()
    assert page.evaluate("told") == []
    frame.locator("#questions [type=submit]").click()
    frame.locator("#receipt_sha256").wait_for(state="attached")

    assert page.evaluate("told") == [[visitor.site.url, {"type": "sottovoce:completed"}]]
    assert frame.locator("#receipt_id").text_content() in stored(visitor.site)


def test_other_page_cannot_hold_the_form(sites: tuple[Visit, str, str]) -> None:
    """The browser refuses the frame."""
    visitor, _, refused = sites
    around(visitor, refused)

    assert any("frame-ancestors" in complaint for complaint in visitor.complaints)
    assert "GET /assets/respondent.js" not in visitor.paths


def test_nobody_may_embed_by_default(visit: Visit) -> None:
    """Without the setting no page is let in, not even one of the aggregator itself."""
    page = visit.open()
    page.evaluate(
        "link => document.body.append(Object.assign(document.createElement('iframe'), { src: link }))", page.url
    )
    page.wait_for_timeout(200)

    assert any("frame-ancestors" in complaint or "frame-src" in complaint for complaint in visit.complaints)
