import json
from datetime import timedelta
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from jsonschema import Draft202012Validator
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.i18n.translator import LANGUAGES
from sottovoce.aggregator.institution import LEAST_CONTRAST, contrast, lightened
from sottovoce.aggregator.settings import SettingError, Settings
from sottovoce.aggregator.storage.accounts.models import Account
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.studio.request_context import shown_institution

from tests.conftest import FakeClock
from tests.surveys import survey
from tests.unit.aggregator.studio.staff import browser, press

STATUS = json.loads(files("sottovoce.shared").joinpath("schema/status.schema.json").read_text(encoding="utf-8"))

LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>'


def test_contrast_is_that_of_wcag() -> None:
    """Black on white has 21, and the least grey that passes on white is #767676."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") >= LEAST_CONTRAST > contrast("#777777", "#ffffff")
    assert contrast(lightened("#000000", "#1d2327"), "#1d2327") > LEAST_CONTRAST


def written(folder: Path, given: dict[str, str]) -> Settings:
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
    with pytest.raises(SettingError, match=f"SOTTOVOCE_INSTITUTION.*{told}"):
        written(tmp_path, {key: value})


def test_file_must_be_there() -> None:
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
    (tmp_path / "logo.svg").write_text(body, encoding="utf-8")
    with pytest.raises(SettingError, match="logo must be an SVG"):
        written(tmp_path, {"logo": "logo.svg"})


def test_pages_show_the_institution(
    public_app: Flask, storage: SQLiteStorage, clock: FakeClock, tmp_path: Path
) -> None:
    given = {"name": "University of <b>", "imprint": "https://a.example/imprint", "contact": "access@a.example"}
    (tmp_path / "logo.svg").write_text(LOGO, encoding="utf-8")
    own = written(tmp_path, {**given, "accent": "#7A1FA2", "logo": "logo.svg"})
    client, statement = create_app(own, storage, clock, {}).test_client(), "/dashboard/accessibility"
    for language in LANGUAGES:
        page = client.get(statement, headers={"Accept-Language": language}).text
        shown = (
            "University of &lt;b&gt;",
            "https://a.example/imprint",
            "mailto:access@a.example",
            "data:image/svg+xml",
        )
        assert [text for text in shown if text not in page] == [], language
    assert "--accent: #7a1fa2" in client.get("/dashboard/style.css").text
    plain = public_app.test_client().get(statement).text
    assert ("SOTTOVOCE_INSTITUTION" in plain, "mailto:" in plain) == (True, False)


@pytest.fixture(autouse=True)
def accounts(storage: SQLiteStorage) -> None:
    storage.publish(survey())
    for name, is_admin in (("admin", True), ("owner", False)):
        storage.access.add_account(Account(name.encode().ljust(16), name, admin=is_admin))
    storage.access.grant(OWNER, "exam", "owner")


ADMIN, OWNER = b"admin".ljust(16), b"owner".ljust(16)
SERVER, SURVEY = "/dashboard/institution", "/dashboard/surveys/exam/settings/institution"
GIVEN = {"name": "University of <b>", "imprint": "https://a.example/imprint", "contact": "", "accent": "#7A1FA2"}


def status(app: Flask) -> dict[str, Any]:
    return dict(app.test_client().get("/api/v1/surveys/exam/status").json or {})


def logo(body: str = LOGO) -> dict[str, Any]:
    return {"logo": (BytesIO(body.encode()), "logo.svg")}


def test_admin_sets_what_pages_form_and_files_show(app: Flask, clock: FakeClock) -> None:
    before = status(app)
    assert press(browser(app, ADMIN), SERVER, **GIVEN, **logo()).status_code == 303
    clock.moment += timedelta(seconds=2)
    shown = status(app)
    Draft202012Validator(STATUS).validate(shown)
    owner = browser(app, OWNER)
    pages = [owner.get(f"/dashboard/surveys/exam/{page}").text for page in ("settings", "invite/poster", "invite")]

    assert "institution" not in before
    assert {"name": GIVEN["name"], "imprint": GIVEN["imprint"], "accent": "#7a1fa2"}.items() <= shown[
        "institution"
    ].items()
    assert all("University of &lt;b&gt;" in page for page in pages)
    assert all("data:image/svg+xml" in page for page in pages[:2])
    assert "--accent: #7a1fa2" in app.test_client().get("/dashboard/style.css").text
    assert "University of &lt;b&gt;" in owner.get("/dashboard/surveys/exam/files/codebook.html").text
    press(browser(app, ADMIN), SERVER, no_logo="1")
    clock.moment += timedelta(seconds=2)
    assert status(app) == before


def test_change_by_another_node_shows_within_two_seconds(app: Flask, storage: SQLiteStorage, clock: FakeClock) -> None:
    """Until then pages ask the database for nothing about the institution."""
    with app.test_request_context():
        assert shown_institution().name == ""
        storage.institutions.save("", b'{"name": "Other node"}')
        assert shown_institution().name == ""
        clock.moment += timedelta(seconds=2)
        assert shown_institution().name == "Other node"


def test_survey_has_details_of_its_own(app: Flask, clock: FakeClock) -> None:
    press(browser(app, ADMIN), SERVER, **GIVEN)
    press(browser(app, OWNER), SURVEY, name="Institute", contact="", imprint="", accent="")
    clock.moment += timedelta(seconds=2)
    found = status(app)["institution"]
    assert (found["name"], found["imprint"]) == ("Institute", GIVEN["imprint"])
    storage = app.extensions["storage"]
    storage.delete_survey("exam")
    assert set(storage.institutions.documents("exam")) == {""}


def test_draft_has_details_of_its_own_before_it_is_published(app: Flask, storage: SQLiteStorage) -> None:
    for name in ("kept", "gone"):
        storage.drafts.add(name, draft_of(survey(name=name).document).dumped)
        storage.access.grant(OWNER, name, "owner")
        address = f"/dashboard/surveys/{name}/settings/institution"
        assert address in browser(app, OWNER).get(f"/dashboard/surveys/{name}/settings").text
        assert press(browser(app, OWNER), address, name="Institute", **logo()).status_code == 303
        assert "data:image/svg+xml" in browser(app, OWNER).get(address).text
    press(browser(app, OWNER), "/dashboard/surveys/kept/publish", version="1")
    press(browser(app, OWNER), "/dashboard/surveys/gone/design/discard", typed="gone")

    assert [row.name for row in storage.surveys() if row.name in ("kept", "gone")] == ["kept"]
    assert [name in storage.institutions.documents(name) for name in ("kept", "gone")] == [True, False]


def test_only_admins_and_owners_change_them(app: Flask) -> None:
    """An admin has no role on the survey, and its owner is no admin."""
    assert press(browser(app, OWNER), SERVER, **GIVEN).status_code == 403
    assert press(browser(app, ADMIN), SURVEY, **GIVEN).status_code == 404


@pytest.mark.parametrize(
    ("key", "value"),
    [("accent", "#8fbcb5"), ("imprint", "javascript:alert(1)"), ("contact", "nobody"), ("name", "n" * 121)],
)
def test_page_refuses_what_would_exclude_people(app: Flask, key: str, value: str) -> None:
    reply = press(browser(app, ADMIN), SERVER, **(GIVEN | {key: value}))
    assert reply.status_code == 422
    assert value in reply.text
    assert 'aria-invalid="true"' in reply.text
    assert app.extensions["storage"].institutions.documents() == {}


def test_page_refuses_a_logo_with_a_script(app: Flask) -> None:
    for body in ("<svg><script>1</script></svg>", f"<svg>{' ' * 9000}</svg>"):
        assert press(browser(app, ADMIN), SERVER, **GIVEN, **logo(body)).status_code == 422
    assert app.extensions["storage"].institutions.documents() == {}
