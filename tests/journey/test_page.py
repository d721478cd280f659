"""``page`` and ``verify``: the page at an aggregator, on a static host and in a file is this release's, or not."""

import json
import re
from pathlib import Path

import pytest
import requests
from click.testing import CliRunner, Result
from sottovoce.cli.main import main
from sottovoce.client.page import by_path, static_page

from tests.browser.hosts import serving
from tests.conftest import Running, SharedServer
from tests.page_files import page_files
from tests.surveys import survey


@pytest.fixture(scope="module")
def site(shared_server: SharedServer) -> Running:
    return shared_server.publish(survey())


def run(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def test_served_page_is_this_releases(site: Running) -> None:
    done = run("device", "verify", site.link, "--json")
    document = json.loads(done.stdout)

    assert done.exit_code == 0
    assert document["same"] is True
    assert document["aggregator"] == site.url
    files = by_path(page_files(), site.survey.name)
    assert {file["path"] for file in document["files"]} == set(files)
    page = requests.get(f"{site.url}/s/{site.survey.name}", timeout=15).text
    assert {part[2:] for part in re.findall(r'"(\.\./assets/[^"]*)"', page)} <= set(files)


@pytest.mark.parametrize("name", ["index.html", "respondent.js", "catalogues/hi.json", "sw.js"])
def test_static_host_is_verified_and_one_changed_byte_is_told(site: Running, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "host"
    made = run("survey", "page", site.link, "--folder", str(folder))
    assert made.exit_code == 0
    assert {line.partition("  ")[2] for line in made.stdout.splitlines()} == {
        str(folder / path) for path in static_page(site.url)
    }
    assert f"#s={site.survey.name}&d={site.survey.digest[:32]}" in made.stderr
    with serving(folder) as origin:
        assert run("device", "verify", f"{origin}/").exit_code == 0
        (folder / name).write_bytes((folder / name).read_bytes().replace(b"e", b"E", 1))
        done = run("device", "verify", origin)

    assert done.exit_code == 1
    assert f"DIFFERENT  /{name}" in done.stdout
    assert "Do not answer through this page" in done.stderr


def test_static_host_without_a_file_is_told(site: Running, tmp_path: Path) -> None:
    run("survey", "page", site.url, "--folder", str(tmp_path / "host"))
    (tmp_path / "host" / "sw.js").unlink()
    with serving(tmp_path / "host") as origin:
        done = run("device", "verify", origin)

    assert done.exit_code == 1
    assert "missing    /sw.js" in done.stdout


@pytest.mark.parametrize("holds_survey", [True, False])
def test_saved_page_is_verified_and_one_changed_byte_is_told(site: Running, tmp_path: Path, holds_survey: bool) -> None:
    file = tmp_path / "saved.html"
    made = run("survey", "page", site.link if holds_survey else site.url, "--file", str(file))
    assert made.exit_code == 0
    assert (site.survey.digest[:32] in file.read_text()) is holds_survey
    assert run("device", "verify", str(file)).exit_code == 0
    file.write_bytes(file.read_bytes().replace(b"class Draws", b"class  Draws"))
    done = run("device", "verify", str(file))

    assert done.exit_code == 1
    assert f"This page reports to {site.url}." in done.stdout


def test_page_that_was_turned_to_another_aggregator_names_it(site: Running, tmp_path: Path) -> None:
    """Such a page is of this release and still not the one that was meant, so its aggregator is always told."""
    file = tmp_path / "saved.html"
    run("survey", "page", site.url, "--file", str(file))
    file.write_bytes(file.read_bytes().replace(site.url.encode(), b"https://elsewhere.example"))
    done = run("device", "verify", str(file))

    assert done.exit_code == 0
    assert "This page reports to https://elsewhere.example." in done.stdout


def test_nothing_is_overwritten(site: Running, tmp_path: Path) -> None:
    kept = tmp_path / "kept.html"
    kept.write_text("mine")
    refused = run("survey", "page", site.url, "--file", str(kept))

    assert refused.exit_code == 1
    assert "exists already" in refused.stderr
    assert kept.read_text() == "mine"
    assert run("survey", "page", site.url, "--folder", str(tmp_path)).exit_code == 1


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["survey", "page", "https://a.example"], 2, "either --folder or --file"),
        (["survey", "page", "https://a.example", "--file", "a", "--folder", "b"], 2, "either --folder or --file"),
        (["survey", "page", "http://a.example", "--file", "unwritten"], 1, "must look like https://host"),
        (["device", "verify", "no/such/file.html"], 1, "no such file"),
        (["device", "verify", __file__], 1, "not a page of Sottovoce's"),
        (["device", "verify", "http://a.example/s/exam"], 1, "must begin with https"),
    ],
)
def test_what_cannot_be_done_is_said(words: list[str], status: int, message: str) -> None:
    """A sentence and a status, and no file."""
    done = run(*words)

    assert done.exit_code == status
    assert message in done.stderr
    assert not Path("unwritten").exists()


def test_link_that_names_another_survey_makes_no_page(site: Running, tmp_path: Path) -> None:
    """A saved page would hold whatever the aggregator sent."""
    done = run(
        "survey", "page", f"{site.url}/s/{site.survey.name}#d={'0' * 32}", "--file", str(tmp_path / "saved.html")
    )

    assert done.exit_code == 1
    assert "another survey than the one your link names" in done.stderr
    assert list(tmp_path.iterdir()) == []
