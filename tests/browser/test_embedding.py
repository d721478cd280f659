"""The form in a frame of another page: a page around it could watch where people press, so it opens in none."""

from pathlib import Path

from tests.browser.hosts import serving
from tests.browser.visit import Visit


def test_other_page_cannot_hold_the_form(visit: Visit, tmp_path: Path) -> None:
    with serving(tmp_path) as origin:
        (tmp_path / "index.html").write_text(f'<!doctype html><iframe src="{visit.site.link}"></iframe>')
        page = visit.context.new_page()
        page.goto(origin)
        page.wait_for_timeout(200)
        assert any("frame-ancestors" in complaint for complaint in visit.complaints)
        assert "GET /assets/respondent.js" not in visit.paths
    page = visit.open()
    visit.complaints.clear()
    page.evaluate(
        "link => document.body.append(Object.assign(document.createElement('iframe'), { src: link }))", page.url
    )
    page.wait_for_timeout(200)

    assert any("frame-ancestors" in complaint or "frame-src" in complaint for complaint in visit.complaints)
