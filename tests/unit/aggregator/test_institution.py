"""The institution that runs a server: what its settings may be, and that they are on its pages."""

import json
from pathlib import Path

import pytest
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.i18n.languages import LANGUAGES
from sottovoce.aggregator.institution import LEAST_CONTRAST, contrast, lightened
from sottovoce.aggregator.settings import SettingError, Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

from tests.conftest import FakeClock

LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>'


def test_contrast_is_that_of_wcag() -> None:
    """Black on white has 21, and the least grey that passes on white is #767676."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") >= LEAST_CONTRAST > contrast("#777777", "#ffffff")
    assert contrast(lightened("#000000", "#1d2327"), "#1d2327") > LEAST_CONTRAST


def written(folder: Path, given: dict[str, str]) -> Settings:
    """Settings with a file about the institution."""
    (folder / "institution.json").write_text(json.dumps(given), encoding="utf-8")
    return Settings(institution=str(folder / "institution.json"))


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("accent", "#8fbcb5", "contrast"), ("accent", "teal", "colour"), ("imprint", "http://a.example", "https"),
        ("imprint", "https://a.example/\"><b>", "https"), ("contact", "nobody", "email"), ("logo", "no.svg", "read"),
        ("colour", "#000000", "some of accent"),
    ],
)  # fmt: skip
def test_file_that_would_exclude_people_is_refused(tmp_path: Path, key: str, value: str, told: str) -> None:
    """At start, and the message names the setting."""
    with pytest.raises(SettingError, match=f"SOTTOVOCE_INSTITUTION.*{told}"):
        written(tmp_path, {key: value})


def test_file_must_be_there() -> None:
    """A wrong path is told at start."""
    with pytest.raises(SettingError, match="JSON file that can be read"):
        Settings(institution="/nowhere/institution.json")


@pytest.mark.parametrize(
    "body",
    [
        "<svg><script>1</script></svg>", '<svg onload="1"/>', '<svg><image href="https://a.example/x"/></svg>',
        "<p>text</p>", "<svg><style>a{background:url(//a.example)}</style></svg>", f"<svg>{' ' * 4000}</svg>",
    ],
)  # fmt: skip
def test_logo_runs_and_loads_nothing(tmp_path: Path, body: str) -> None:
    """And it is small."""
    (tmp_path / "logo.svg").write_text(body, encoding="utf-8")
    with pytest.raises(SettingError, match="logo must be an SVG"):
        written(tmp_path, {"logo": "logo.svg"})


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_show_the_institution(storage: SQLiteStorage, clock: FakeClock, tmp_path: Path, language: str) -> None:
    """With name, logo, imprint and colour; the statement is public, and names the contact or that there is none."""
    given = {"name": "University of <b>", "imprint": "https://a.example/imprint", "contact": "access@a.example"}
    (tmp_path / "logo.svg").write_text(LOGO, encoding="utf-8")
    own = written(tmp_path, {**given, "accent": "#7A1FA2", "logo": "logo.svg"})
    client = create_app(own, storage, clock, {}).test_client()
    page = client.get("/dashboard/accessibility", headers={"Accept-Language": language}).text
    style = client.get("/dashboard/style.css").text
    plain = create_app(Settings(), storage, clock, {}).test_client().get("/dashboard/accessibility").text

    for shown in ("University of &lt;b&gt;", "https://a.example/imprint", "mailto:access@a.example"):
        assert shown in page
    assert "data:image/svg+xml" in page
    assert "--accent: #7a1fa2" in style
    assert "SOTTOVOCE_INSTITUTION" in plain
    assert "mailto:" not in plain
