"""The codebook is a page without scripts, which tells every column."""

import csv
from html.parser import HTMLParser
from pathlib import Path

from sottovoce.aggregator.export.catalogue import Source


class Page(HTMLParser):
    """Its elements, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_codebook_tells_every_question_and_loads_nothing(every: Source, folder: Path) -> None:
    """No script, no link, no picture; a title with markup in it is text; exactly the columns that the file has."""
    page = Page((folder / "codebook.html").read_text(encoding="utf-8"))

    assert {"script", "link", "img", "iframe", "b"} & set(page.tags) == set()
    assert {"src", "href", "onclick"} & page.attributes == set()
    assert "=1+1 & <b>" in page.text
    with (folder / "reports.csv").open(encoding="utf-8") as lines:
        columns = next(csv.reader(line for line in lines if not line.startswith("#")))
    assert page.tags.count("section") == len(columns) < len(every.about.survey.questions) + 2
    for question in every.about.survey.questions:
        assert (question.label["en"] in page.text) == (question.name in columns)
    assert every.about.line in page.text
    assert "Estimated shares of" in page.text
