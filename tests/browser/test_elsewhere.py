"""The page from elsewhere: from a static host, and from a file that somebody keeps."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page
from sottovoce.client.page import saved_page, static_page
from sottovoce.client.verify import verify_saved

from tests.browser.hosts import serving
from tests.browser.visit import KEPT, READY, Visit, begin, choose, send, stored

ANSWERS = (1, 0, 2, 3, 1)


@pytest.fixture
def host(visit: Visit, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Another site that holds the page; its address and its folder."""
    for name, body in static_page(visit.site.url).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(body)
    with serving(tmp_path) as origin:
        yield origin, tmp_path


def fragment(visit: Visit) -> str:
    return f"#s={visit.site.survey.name}&d={visit.site.survey.digest[:32]}"


def refusal(page: Page) -> str:
    assert page.locator("fieldset").count() == 0
    return page.inner_text("#main .problem")


def test_static_host_sends_to_the_aggregator(visit: Visit, host: tuple[str, Path]) -> None:
    """Another origin is enough; the aggregator sees a request without cookie or referrer."""
    page = visit.open(f"{host[0]}/{fragment(visit)}")
    page.evaluate(KEPT)
    shown = send(page, *ANSWERS)

    assert shown["id"] in stored(visit.site)
    assert visit.complaints == []
    assert {"GET /", "GET /respondent.js", "GET /catalogues/en.json"} <= set(visit.paths)
    assert not any(path.endswith(("answering.js", "/s/marriage")) for path in visit.paths)
    headers = next(request.all_headers() for request in visit.requests if request.method == "POST")
    assert not {"cookie", "referer"} & set(headers)


def test_static_page_opens_without_a_connection(visit: Visit, host: tuple[str, Path]) -> None:
    """Its worker keeps it, and the aggregator's survey."""
    page = visit.open(f"{host[0]}/{fragment(visit)}")
    page.evaluate(KEPT)
    visit.context.set_offline(True)
    page.reload()
    page.wait_for_selector(READY)
    begin(page)

    assert page.locator("fieldset").count() == len(ANSWERS)


@pytest.mark.parametrize("part", ["respondent.js", "catalogues/en.json"])
def test_altered_part_is_refused(visit: Visit, host: tuple[str, Path], part: str) -> None:
    """One space more than the page's digest allows, and nothing is asked."""
    file = host[1] / part
    file.write_bytes(file.read_bytes() + b" ")
    page = visit.context.new_page()
    with page.expect_console_message(lambda message: "integrity" in message.text):
        page.goto(f"{host[0]}/{fragment(visit)}", wait_until="networkidle")

    assert page.locator("fieldset").count() == 0


def test_static_page_does_not_open_in_a_frame(visit: Visit, host: tuple[str, Path]) -> None:
    """No header protects it there, so it looks for itself."""
    (host[1] / "around.html").write_text(f'<!doctype html><iframe src="{host[0]}/{fragment(visit)}"></iframe>')
    page = visit.context.new_page()
    page.goto(f"{host[0]}/around.html")

    assert "does not open inside another page" in page.frame_locator("iframe").locator(".problem .lead").inner_text()


def test_address_without_a_survey_is_refused(visit: Visit, host: tuple[str, Path]) -> None:
    """A static page alone names no survey."""
    assert "missing or mistyped" in refusal(visit.open(host[0]))


@pytest.mark.parametrize("holds_survey", [True, False])
def test_saved_file_sends_to_the_aggregator(visit: Visit, tmp_path: Path, holds_survey: bool) -> None:
    """From file://, where the origin is null: the survey is asked for unless it is in the file; and if it is open."""
    file = tmp_path / "saved.html"
    file.write_bytes(saved_page(visit.site.url, visit.site.survey if holds_survey else None))
    page = visit.open(f"{file.as_uri()}{'' if holds_survey else fragment(visit)}")
    shown = send(page, *ANSWERS)

    assert stored(visit.site)[shown["id"]] == json.loads(shown["bytes"])["values"]
    assert visit.complaints == []
    survey = "/api/v1/surveys/marriage"
    asked = [] if holds_survey else [f"GET {survey}"]
    assert sorted(visit.paths[1:-1]) == sorted([*asked, f"GET {survey}/status"])
    assert visit.paths[-1] == f"POST {survey}/reports"
    page.reload()
    page.wait_for_selector("#receipt_sha256", state="attached")
    assert visit.bodies == [shown["bytes"]]


def test_page_saves_itself_as_the_file_that_verify_accepts(visit: Visit, tmp_path: Path) -> None:
    """The button on the first step gives the very file of `sottovoce survey page --file`, and that answers."""
    page = visit.arrive()
    assert not any("saved" in path for path in visit.paths)
    page.click("#explanation details:last-of-type summary")
    with page.expect_download() as download:
        page.click("#explanation details:last-of-type button")
    file = tmp_path / "saved.html"
    download.value.save_as(file)

    assert file.read_bytes() == saved_page(visit.site.url, visit.site.survey)
    assert verify_saved(file.name, file.read_bytes()).is_good
    page = visit.open(file.as_uri())
    assert page.locator("fieldset").count() > 0
    assert visit.complaints == []


def test_saved_file_has_nothing_to_save(visit: Visit, tmp_path: Path) -> None:
    """It is the copy already."""
    file = tmp_path / "saved.html"
    file.write_bytes(saved_page(visit.site.url, visit.site.survey))

    assert "Save this page" not in visit.arrive(file.as_uri()).inner_text("#explanation")


def test_saved_file_with_another_survey_is_refused(visit: Visit, tmp_path: Path) -> None:
    """The survey in the file is held to its digest, like one that is fetched."""
    file = tmp_path / "saved.html"
    text = saved_page(visit.site.url, visit.site.survey).decode()
    assert text.count("Marriage and faithfulness") == 1
    file.write_text(text.replace("Marriage and faithfulness", "Marriage"), encoding="utf-8")

    assert "not the survey that your link names" in refusal(visit.open(file.as_uri()))


def test_saved_file_without_a_memory_stops(visit: Visit, tmp_path: Path) -> None:
    """Where a file is given no storage, it says so before it asks anything."""
    visit.context.add_init_script("Object.defineProperty(globalThis, 'indexedDB', { value: undefined })")
    file = tmp_path / "saved.html"
    file.write_bytes(saved_page(visit.site.url, visit.site.survey))

    assert "remember what it sent" in refusal(visit.open(file.as_uri()))


def test_altered_script_in_a_saved_file_does_not_run(visit: Visit, tmp_path: Path) -> None:
    """The policy in the file lets in one script, by its digest."""
    text = saved_page(visit.site.url, visit.site.survey).decode()
    file = tmp_path / "saved.html"
    file.write_text(text.replace("class Draws", "class  Draws"), encoding="utf-8")
    page = visit.context.new_page()
    page.goto(file.as_uri())

    assert page.text_content("#main") == ""
    assert page.text_content("#status") == "Loading …"
    assert any("Content Security Policy" in complaint for complaint in visit.complaints)


def test_saved_file_is_kept_by_nobody(visit: Visit, tmp_path: Path) -> None:
    file = tmp_path / "saved.html"
    file.write_bytes(saved_page(visit.site.url, visit.site.survey))
    page = visit.open(file.as_uri())
    before = page.content()
    choose(page, *ANSWERS)

    # The row of buttons stays at the edge of a window that is high enough, which does not depend on answers.
    assert before.replace(" stays", "") == page.content().replace(" stays", "")
    assert page.evaluate("globalThis.caches ? caches.keys() : []") == []
