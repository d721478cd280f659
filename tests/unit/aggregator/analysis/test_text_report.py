"""Results in a terminal: the figures of the page, in nine languages."""

import math
from collections.abc import Iterator
from typing import Any

import pytest
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.analysis.text_report import in_words
from sottovoce.aggregator.i18n.translator import LANGUAGES, NumberFormat, Words
from sottovoce.aggregator.studio.labels import SurveyVariables
from sottovoce.aggregator.studio.results.analysis_page import in_words as on_page
from sottovoce.aggregator.studio.results.run_analysis import JointAnswer

from tests.unit.aggregator.analysis.regression.test_declining import columns

REPORTS = columns((0.05, 0.35))
REQUESTS: dict[str, dict[str, Any]] = {
    "crosstab": {"rows": "g", "columns": "y", "confidence": 0.9},
    "compare": {"outcome": "y", "groups": "g"},
    "pairs": {},
    "test": {"question": "y", "shares": {"yes": 0.3}},
    "regression": {"outcome": "y", "on": ["g"], "at": [{"g": "yes"}]},
}


def figures(document: Any) -> Iterator[dict[str, Any]]:
    """Every estimate with limits, wherever it stands."""
    if isinstance(document, dict) and {"low", "high"} <= document.keys():
        yield document
    parts = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
    for part in parts:
        yield from figures(part)


def ways(write: NumberFormat, one: dict[str, Any]) -> list[str]:
    """The limits of an estimate as share, difference, number and odds ratio."""
    odds = {key: None if one.get(key) is None else math.exp(one[key]) for key in ("estimate", "low", "high")}
    shown = [write.limits(one, show) for show in (write.percent, write.points, write.figure)]
    return [*shown, write.limits(odds, write.figure)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_figure_stands_in_the_text_of_every_language(language: str) -> None:
    """With its limits; numbers of reports, tests and the level are the page's, which has labels in place of names."""
    words = Words(language)
    for kind, options in REQUESTS.items():
        document = parse_request(kind, options).document(REPORTS)
        tables = in_words(document, words)
        text = "\n".join(part for table in tables for line in (*table.lines, table.sentences) for part in line)
        page = on_page(JointAnswer(document), SurveyVariables(REPORTS.survey, words))

        assert [
            one for one in figures(document) if not any(each in text for each in ways(NumberFormat(words), one))
        ] == []
        assert page is not None
        assert [table.bars and [(bar.value, bar.limits) for bar in table.bars] for table in page.tables] == [
            table.bars and [(bar.value, bar.limits) for bar in table.bars] for table in tables[: len(page.tables)]
        ]
