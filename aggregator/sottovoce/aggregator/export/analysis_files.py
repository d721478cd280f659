"""Write a joint result as a flat table, with one figure of the document per row."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sottovoce.aggregator.analysis.documents import MEASURES
from sottovoce.aggregator.analysis.result_view import OTHER_MODELS
from sottovoce.aggregator.export.workbook import write_workbook
from sottovoce.aggregator.file_formats.csv_cells import write_csv
from sottovoce.aggregator.file_formats.provenance import About

Document = Mapping[str, Any]

COLUMNS = (
    "figure", "rows", "row", "columns", "column", "within", "within_category", "category", "shown", "raw", "std_error",
    "low", "high", "n", "statistic", "df", "p", "q", "note",
)  # fmt: skip
"""Columns of all such tables; cells that do not apply to a figure are empty."""

Line = dict[str, object]


def joint_rows(document: Document) -> list[tuple[object, ...]]:
    """Return the rows of the table, by ``COLUMNS``."""
    # Warnings become rows of their own, so that they are not lost in a spreadsheet.
    made = _LINES[document["format"]](document)
    notes: list[Line] = [{"figure": "note", "note": note} for note in document["warnings"]]
    people = document.get("people")
    notes += [] if people is None else [{"figure": "among", "note": people}]
    # Figures without a range to be within are shown as they are estimated.
    lines = ({"shown": line.get("estimate"), **line} for line in (*made, *notes))
    return [tuple(line.get(column) for column in COLUMNS) for line in lines]


def write_joint_csv(path: Path, document: Document, about: About) -> None:
    """Write the table as CSV."""
    write_csv(path, about, COLUMNS, joint_rows(document))


def write_joint_xlsx(path: Path, document: Document, about: About) -> None:
    """Write the table as a workbook."""
    write_workbook(path, about, [COLUMNS, *joint_rows(document)], "Figures")


def _crosstab(document: Document) -> Iterator[Line]:
    for table in document.get("tables", [document]):
        where = {"within": document.get("within"), "within_category": table.get("category")}
        names = {"rows": table["rows"], "columns": table["columns"], "n": table["n"], **where}
        for key in ("cells", "conditional"):
            yield from ({"figure": key.rstrip("s"), **names, **cell} for cell in table[key])
        yield from ({"figure": "declined", **names, **one} for one in table.get("declined", ()))
        for key in MEASURES:
            if key in table:
                yield {"figure": key, **names, **table[key]}
        yield from _tested({**names, "figure": "independence"}, table["independence"])
        yield from ({**names, "figure": "note", "note": note} for note in table["warnings"] if "tables" in document)
    if "within" in document:
        yield from _tested({"figure": "independence", "within": document["within"]}, document["independence"])


def _comparison(document: Document) -> Iterator[Line]:
    names = {"rows": document["groups"], "columns": document["outcome"], "column": document["category"]}
    names |= {"n": document["n"]}
    for one in document["values"]:
        yield {"figure": "value", **names, **one, "row": one["group"]}
    for one in document["differences"]:
        yield {"figure": "difference", **names, **one, "row": f"{one['group']} - {one['from']}"}
    for one in document.get("declined", ()):
        yield {"figure": "declined", **names, "column": None, **one, "row": one["group"]}
    yield from _tested({"figure": "independence", **names}, document["independence"])


def _pairs(document: Document) -> Iterator[Line]:
    return ({"figure": "pair", "rows": one["first"], "columns": one["second"], **one} for one in document["pairs"])


def _one_sample(document: Document) -> Iterator[Line]:
    names = {"rows": document["question"], "n": document["n"]}
    for one in document["values"]:
        yield {"figure": "known", **names, "category": one["category"], "shown": one["known"]}
        yield {"figure": "value", **names, **one}
    yield from _tested({"figure": document["method"], **names}, document)


def _shares(document: Document) -> Iterator[Line]:
    for question in document["questions"]:
        careful = question.get("corrected", {}).get("estimates", ())
        for mark, one in [("", each) for each in question["estimates"]] + [("corrected ", each) for each in careful]:
            shown = {"rows": question["name"], **one, "category": one["option"], "shown": one["clipped"]}
            yield {"figure": f"{mark}{one['kind']}", **shown}
    if "careless" in document:
        yield {"figure": "careless", **document["careless"], "shown": document["careless"]["clipped"]}


def _mixture(document: Document) -> Iterator[Line]:
    names = {"rows": document["groups"][0]["name"], "n": document["n"]}
    for name, one in document["shares"].items():
        yield {"figure": "share", **names, "category": name, **one, "shown": one["share"], "std_error": one["se"]}
    yield from _tested({"figure": "misfit", **names}, document["misfit"])
    yield from _coefficients(document)


def _coefficients(document: Document) -> Iterator[Line]:
    """Yield the lines of a model of classes of people, if there is one."""
    model = document.get("model", {})
    for one in model.get("coefficients", ()):
        category = one.get("category", one.get("treated"))
        yield {"figure": "coefficient", "n": model["n"], **one, "row": one["term"], "category": category}


def _list_experiment(document: Document) -> Iterator[Line]:
    for one in (document, *document.get("further", ())):
        names = {"category": one["treated"], "n": one["n"]}
        yield {"figure": "share", **names, **one["share"]}
        for each in one["lists"]:
            yield {"figure": "test of design effects", **names, "columns": each["column"], "p": each["p"]}
        if "combined" in one:
            raw = one["combined"]["share"]
            shown = raw if 0 <= raw <= 1 else None
            yield {"figure": "combined share", **names, **one["combined"], "raw": raw, "shown": shown}
    yield from _coefficients(document)


def _items(document: Document) -> Iterator[Line]:
    names = {"n": document["n"]}
    figures = [(key, one["name"], one[key]) for key in ("difficulty", "discrimination")
               for one in document.get("items", ()) if key in one]  # fmt: skip
    figures += [(key, None, document[key]) for key in ("sd", "mean") if document.get(key)]
    for key, name, one in figures:
        yield {"figure": key, **names, "row": name, **one}
    for yes, share in enumerate(document.get("distribution", ())):
        yield {"figure": "share by number of yes", **names, "category": yes, "shown": share}
    yield from _tested({"figure": "test", **names}, document.get("test"))


def _regression(document: Document) -> Iterator[Line]:
    models: dict[str, Any] = {"": document, **{key: document.get(key) for key in OTHER_MODELS}}
    for part, model in models.items():
        for key in ("coefficients", "ame"):
            for one in model[key] if model else ():
                names = {"figure": f"{part or model['model']} {key}", "columns": model["outcome"], "n": model["n"]}
                yield {**names, "row": one["term"], **one}
    for one in document.get("predictions", ()):
        at = ", ".join(f"{name}={value}" for name, value in one["at"].items())
        yield {"figure": "prediction", "columns": document["outcome"], "row": at, **one}
    for test in document["tests"]:
        yield from _tested({"figure": "without", "columns": document["outcome"], "row": test["predictor"]}, test)
    common = {"figure": "common share of declined answers", "columns": document["outcome"]}
    yield from _tested(common, document.get("declining_test"))


def _tested(line: Line, test: Document | None) -> Iterator[Line]:
    if test is not None:
        yield {**line, **{key: test[key] for key in ("statistic", "df", "p")}}


_LINES = {
    "sottovoce-crosstab/1": _crosstab,
    "sottovoce-comparison/1": _comparison,
    "sottovoce-pairs/1": _pairs,
    "sottovoce-test/1": _one_sample,
    "sottovoce-shares/1": _shares,
    "sottovoce-mixture/1": _mixture,
    "sottovoce-list-experiment/1": _list_experiment,
    "sottovoce-items/1": _items,
    "sottovoce-regression/1": _regression,
}
