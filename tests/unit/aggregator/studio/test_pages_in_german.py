"""No sentence of the studio is left in English: each page in German is held against the same page in English."""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.authoring.draft import empty_draft
from sottovoce.aggregator.authoring.templates import all_templates
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.shared.parse_survey import parse_survey

from tests.surveys import document
from tests.unit.aggregator.studio.joint_pages import SITE, app, client, get

__all__ = ["app", "client"]

WORDS = 4
"""From so many words on a text is a sentence; shorter ones may be alike in two languages."""

NAME = re.compile(r" \([\w-]+\)$")
"""A survey's, behind its title."""

ASIDE = {"script", "style", "pre", "code", "bdi", "textarea"}
"""Programs, and whatever stands apart because it is somebody's own text."""

INLINE = {"a", "b", "strong", "em", "small", "span"}
"""What stands within a sentence."""

PAGES = (
    *("", "new", "accounts", "me", "journal"),
    *(f"surveys/both/{page}" for page in ("privacy", "invite", "results", "files", "settings", "team", "board")),
    *(f"surveys/both/{page}" for page in ("history", "rehearse", "tables", "models")),
    *(f"surveys/{name}/{page}" for name in ("open", "tried", "empty") for page in ("results", "tables")),
    *(f"surveys/{name}/{page}" for name in ("whole", "begun") for page in ("design", "publish", "settings", "privacy")),
    *(f"surveys/whole/{page}" for page in ("preview", "rehearse")),
    "surveys/done/results",
    "surveys/done/tables?kind=crosstab&rows=cheated&columns=reason",
    "surveys/done/tables?kind=crosstab&rows=cheated&columns=cheated",
    "surveys/done/tables?kind=crosstab&rows=cheated&wave=x",
    "surveys/done/tables?kind=compare&outcome=cheated&groups=year",
    "surveys/done/tables?kind=pairs",
    "surveys/done/models?kind=regression&outcome=cheated&on=reason",
    "surveys/done/models?kind=regression&outcome=reason&on=year&at.year=first",
)
"""In as many states as say something of their own."""


class _Texts(HTMLParser):
    """The texts of a page, each as long as no tag of a block interrupts it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = [""]
        self._aside = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A new text, unless the tag stands within a line."""
        self._aside += tag in ASIDE
        if tag not in INLINE:
            self.found.append("")
        told = dict(attrs)
        self.found += [told[key] or "" for key in ("title", "aria-label", "alt", "placeholder") if key in told] + [""]

    def handle_endtag(self, tag: str) -> None:
        self._aside -= tag in ASIDE
        if tag not in INLINE:
            self.found.append("")

    def handle_data(self, data: str) -> None:
        if not self._aside:
            self.found[-1] += data


def _sentences(page: str) -> list[str]:
    parser = _Texts()
    parser.feed(page)
    texts = (" ".join(text.split()) for text in parser.found)
    return [text for text in texts if len(re.findall(r"[^\W\d_]{2,}", text)) >= WORDS]


def _own(document: object) -> Iterator[str]:
    """Every text of a survey's or a draft's document."""
    if isinstance(document, dict):
        for each in document.values():
            yield from _own(each)
    elif isinstance(document, list):
        for each in document:
            yield from _own(each)
    elif isinstance(document, str):
        yield " ".join(document.split())


@pytest.fixture(scope="module")
def own(app: Flask) -> set[str]:
    """Every text of the surveys that stand there: these, one in two languages, and drafts with mistakes and without."""
    storage = app.extensions["storage"]
    both = document(title={"en": "Life on campus", "de": "Leben auf dem Campus"})
    storage.publish(parse_survey({**both, "name": "both"}))
    template = all_templates()[0]
    storage.drafts.add("whole", draft_of(template.document).dumped)
    storage.drafts.add("begun", empty_draft("A survey that somebody has begun", "en").dumped)
    documents = [json.loads(each.document) for each in storage.surveys()]
    told = [text for each in all_templates() for text in (each.document, each.title, each.summary, each.sources)]
    return {text for each in (*documents, *told, "A survey that somebody has begun") for text in _own(each)}


@pytest.mark.parametrize("path", PAGES)
def test_no_sentence_of_a_page_is_left_in_english(client: FlaskClient, own: set[str], path: str) -> None:
    """What a page says in German is nowhere what it says in English, but for texts of the survey's own."""
    english, german = (_sentences(_page(client, path, language)) for language in ("en", "de"))

    assert english
    assert {text for text in german if text in english and NAME.sub("", text) not in own} == set()


def _page(client: FlaskClient, path: str, language: str) -> str:
    headers = {"Accept-Language": language}
    reply = client.get(f"/dashboard/{path}", base_url=SITE, headers=headers, follow_redirects=True)
    assert reply.status_code in {200, 409, 422}, (path, reply.status_code)
    return str(reply.text)


def test_numbers_of_a_template_are_written_for_each_reader(client: FlaskClient) -> None:
    """A template is compiled once: what it computes of its own numbers then is in the first reader's language."""
    get(client, "done/tables")
    assert ">95\u00a0%</option>" in get(client, "done/tables", "de").text
    assert ">95%</option>" in get(client, "done/tables").text
