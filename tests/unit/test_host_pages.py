"""The pages about single questions in other systems: short, with a picture and the lines that the program makes."""

import re
from pathlib import Path

import pytest
from sottovoce.aggregator.authoring.question_snippets import HOSTS, snippet
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.shared.by_link.link_question import parse_link
from sottovoce.shared.single_question import parse_question

HERE = Path(__file__).parents[2] / "docs" / "hosts"
COIN = {"type": "boolean", "name": "cheated", "label": {"en": "Have you ever cheated in an exam?"},
        "mechanism": {"name": "coin_flip"}}  # fmt: skip


BY_LINK = {"google_forms", "kobo"}
"""Hosts that run no scripts: people answer at our page first."""


@pytest.mark.parametrize("host", sorted(BY_LINK))
def test_page_of_a_host_without_scripts_has_its_question(host: str) -> None:
    """Its file is one that leads on, with a code; whom the host knows and when it was run stand there."""
    page = (HERE / f"{host}.md").read_text(encoding="utf-8")
    link = parse_link(parse_yaml(re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1].encode()))  # type: ignore[index]
    assert {"code", "pass", "consent"} <= link.document.keys()
    assert re.search(r"\*\*(Run\*\* on|Believed, not tried\*\*)[^.]*\W\d+ \w+ \d{4}", page)
    assert "a person" in page
    assert "visit" in page


@pytest.mark.parametrize("host", HOSTS)
def test_page_of_a_host_says_what_to_paste(host: str) -> None:
    """In at most 60 lines; two hashes stand there as such, for every release has others. It says when it was run."""
    page = (HERE / f"{host}.md").read_text(encoding="utf-8")
    lines = snippet(host, "https://q.example.org/q/1/", parse_question(COIN), b"")
    assert re.sub(r"(element-|sha384-)[\w+/]+", r"\1HASH", lines) in page
    assert page.count("\n") <= 60
    assert re.search(r"\*\*(Run\*\* on|Believed, not tried\*\*)[^.]*\W\d+ \w+ \d{4}", page)
    assert "a person" in page or "of the person" in page
    assert "a visit" in page or "of the session" in page


def test_every_picture_is_shown() -> None:
    """And every page has one that exists, and no page is of something else."""
    pages = {page.stem: page.read_text(encoding="utf-8") for page in HERE.glob("*.md")}
    pictures = {f"pictures/{picture.name}" for picture in HERE.glob("pictures/*.png")}
    shown = {host: page.split("](pictures/")[1].split(")")[0] for host, page in pages.items()}
    assert set(pages) == set(HOSTS) | BY_LINK
    assert {f"pictures/{name}" for name in shown.values()} == pictures
