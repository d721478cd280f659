"""Results in a terminal: the figures of the page, in nine languages."""

import math
import re
from collections.abc import Iterator
from typing import Any

import pytest
from sottovoce.aggregator import mixture
from sottovoce.aggregator.analysis.data_file.data_columns import data_columns
from sottovoce.aggregator.analysis.data_file.list_experiment import list_experiment
from sottovoce.aggregator.analysis.data_file.read_table import FileTable, read_bytes
from sottovoce.aggregator.analysis.data_file.shares import shares_document
from sottovoce.aggregator.analysis.documents import COUNTS_ALONE
from sottovoce.aggregator.analysis.item_response.items import items_document
from sottovoce.aggregator.analysis.mixtures.designs import DESIGNS
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.analysis.text_report import answer_in_words, in_words
from sottovoce.aggregator.i18n.translator import LANGUAGES, NumberFormat, Words
from sottovoce.aggregator.studio.labels import SurveyVariables

from tests.unit.aggregator.analysis.data_file.test_list_model import LIST_ONE, RACE, _rows, _table
from tests.unit.aggregator.analysis.item_response.test_items import PUBLIC
from tests.unit.aggregator.analysis.regression.test_declining import columns

REPORTS = columns((0.05, 0.35))
REQUESTS: dict[str, dict[str, Any]] = {
    "crosstab": {"rows": "g", "columns": "y", "confidence": 0.9},
    "compare": {"outcome": "y", "groups": "g"},
    "pairs": {},
    "test": {"question": "y", "shares": {"yes": 0.3}},
    "regression": {"outcome": "y", "on": ["g"], "at": [{"g": "yes"}]},
}
MARGINS = {"margins": {"arm": {"a": 0.3, "b": 0.7}}}


def _answers() -> FileTable:
    rows = [("yes" if at % 3 else "no", "ab"[at % 2], "yes" if at % 5 else "no", str(at % 7)) for at in range(300)]
    return read_bytes("\n".join(["q,arm,anchor,m", *map(",".join, rows)]).encode(), "answers.csv")


def _of_files() -> Iterator[dict[str, Any]]:
    """A result of each kind that only files have, with all that it may say."""
    for design in DESIGNS:
        odds: list[Any] = [(0.6, 0.2)] if design == "kuk" else [(0.25, 0.1), (0.1, 0.25)]
        odds = odds if design in {"kuk", "cheater_detection_symmetric"} else [0.25, 0.75]
        for yes in ((200, 330), (30, 490)):
            counts = ((), (), {0: 500 - yes[0], 1: yes[0], 3: 5}, 3) if design == "kuk" else (yes, (500, 500))
            yield dict(mixture(design, odds, *counts).document)  # type: ignore[arg-type]
    table = _answers()
    asked = data_columns(table, {"q": "coin_flip", "anchor": "warner 0.7"})
    yield shares_document(asked, anchors={"anchor": "1/10"}, states={"q": (250, 300)})
    yield parse_request("weights", MARGINS).document(asked)
    rows = [",".join(cells) for cells, people in PUBLIC.items() for _ in range(people)]
    items = data_columns(read_bytes("\n".join(["x,y,z", *rows]).encode(), "items.csv"), {})
    for model in ("rasch", "2pl", "sum"):
        yield items_document(items, ["x", "y", "z"], model)
    race = _table([*_rows(RACE), "2,,1"])
    yield list_experiment(race, [["y"]], "treat", [], formula="~ south")
    yield list_experiment(race, [["y"]], "treat", ["0"], 4)
    yield list_experiment(_table(_rows(LIST_ONE)), [["y"]], "treat", [], direct="south")


OF_FILES = list(_of_files())


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
        page = answer_in_words(document, SurveyVariables(REPORTS.survey, words))

        assert [
            one for one in figures(document) if not any(each in text for each in ways(NumberFormat(words), one))
        ] == []
        assert page is not None
        assert [table.bars and [(bar.value, bar.limits) for bar in table.bars] for table in page.tables] == [
            table.bars and [(bar.value, bar.limits) for bar in table.bars] for table in tables[: len(page.tables)]
        ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_results_of_files_are_said_in_every_language(language: str) -> None:
    """With every figure and its limits, and no sentence of the English text but in English."""
    words, write = Words(language), NumberFormat(Words(language))
    for document in OF_FILES:
        told, english = in_words(document, words), in_words(document)
        text = "\n".join(part for table in told for line in (*table.lines, table.sentences) for part in line)
        said, known = ({part.strip("\u2068\u2069.।。") for table in tables for part in (table.title, *table.sentences)}
                       for tables in (told, english))  # fmt: skip
        estimates = [one for one in figures(document) if len(one) > len(("low", "high")) and one["low"] is not None]

        assert [one for one in estimates if not any(each in text for each in ways(write, one))] == []
        assert [table.lines == () for table in told] == [table.lines == () for table in english]
        assert (said & known == set()) == (language != "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_titles_name_what_people_named(language: str) -> None:
    """Counts alone have no file and groups without names, which a title does not invent."""
    known, words = {"file", "kuk", "all", COUNTS_ALONE}, Words(language)
    (alone,) = in_words(dict(mixture("kuk", [0.6, 0.2], (), (), {0: 60, 1: 40}, 1).document), words)
    (in_file,) = in_words({**mixture("kuk", [0.6, 0.2], (), (), {0: 60, 1: 40}, 1).document, "file": "file"}, words)

    assert known & {*re.findall(r"[a-z]+", alone.title)} == {"kuk"}
    assert {"file", "kuk"} <= {*re.findall(r"[a-z]+", in_file.title)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_odds_are_of_a_category_or_of_one_more(language: str) -> None:
    """A sentence says of a number what its odds compare, and parts labels from its own words by marks."""
    rows = [("yes" if at % 3 else "no", str(at % 17), "ab"[at % 2]) for at in range(300)]
    table = read_bytes("\n".join(["q,m,arm", *map(",".join, rows)]).encode(), "answers.csv")
    asked = parse_request("regression", {"outcome": "q", "on": ["m", "arm"]})
    odds = in_words(asked.document(data_columns(table, {"q": "coin_flip"})), Words(language))[0]
    quoted = [part.strip("\u2068\u2069\u202f\u00a0 ") for text in odds.sentences
              for part in re.findall("[“„«](.*?)[”“»]", text)]  # fmt: skip

    assert sorted(quoted) == ["arm=b", "m + 1", "q", "q"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_anchors_are_quoted(language: str) -> None:
    """A question ends with a mark of its own, before that of the sentence."""
    anchors = next(document for document in OF_FILES if "careless" in document)
    sentences = "\n".join(text for table in in_words(anchors, Words(language)) for text in table.sentences)

    assert re.search("[“„«][\\s\u2068]*anchor[\\s\u2069]*[”“»]", sentences)
