"""
Results in Python: ``from sottovoce.aggregator import open_results``.

Estimates of each question, and joint results, as objects that know their figures, their words and their JSON document;
``frame()`` for pandas or polars where installed, ``plot()`` with matplotlib (extra ``[plot]``).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from numpy.typing import ArrayLike
from sottovoce.aggregator.analysis.results_document import FORMAT
from sottovoce.aggregator.analysis.text_report import in_words
from sottovoce.aggregator.export.results_client.dataframes import frame
from sottovoce.aggregator.export.results_client.http_source import AddressReports, read_key
from sottovoce.aggregator.export.results_client.plots import plot_intervals
from sottovoce.aggregator.export.results_client.sources import FolderReports, ReportSource
from sottovoce.aggregator.file_formats.provenance import INVENTED
from sottovoce.shared.errors import EstimateError, SpecError

EXPORT = "export.json"
LARGEST = 1 << 28
"""Bytes of an export."""

Row = dict[str, Any]


@dataclass(frozen=True)
class JointResult:
    """
    A table, a comparison or a model.

    Attributes:
        document: all figures, in the JSON form of its schema.
        rows: its main figures, flat: one for each cell, group or coefficient.
    """

    document: Mapping[str, Any]
    rows: tuple[Row, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that are to be read beside the figures."""
        return tuple(self.document["warnings"])

    def frame(self, library: str | None = None) -> Any:  # noqa: ANN401 - of a library that need not be installed
        """``rows`` for ``"pandas"`` or ``"polars"``; without a name, for the first of them that is installed."""
        return frame(self.rows, library)

    def plot(self) -> Any:  # noqa: ANN401 - matplotlib's
        """The figures with their limits; gives matplotlib's figure."""
        return plot_intervals(self.rows)

    def __str__(self) -> str:
        """As the command line tells it."""
        lines: list[str] = []
        for shown in in_words(dict(self.document)):
            lines += [shown.title, *("  ".join(line) for line in (shown.headings, *shown.lines) if line)]
            lines += shown.sentences
        return "\n".join(lines)


@dataclass(frozen=True)
class OpenResults:
    """
    Results of one survey.

    Attributes:
        export: the estimates, in the form of ``export.schema.json``; None of a folder that holds none.
        reports: whoever answers about reports; None where there are estimates only.
    """

    export: Mapping[str, Any] | None
    reports: ReportSource | None

    @property
    def estimates(self) -> tuple[Row, ...]:
        """
        One row for each share, mean or quantile: ``question``, ``option``, ``n``, ``shown``, ``low``, ``high``, ...

        Raises:
            EstimateError: the folder holds reports only.
        """
        if self.export is None:
            raise EstimateError(
                f"the folder holds no {EXPORT}: sottovoce export NAME --format all --out FOLDER has one"
            )
        return tuple(_estimate(question, one) for question in self.export["questions"] for one in _of(question))

    def crosstab(
        self,
        rows: str,
        columns: str,
        within: str | None = None,
        weights: ArrayLike | None = None,
        **options: Any,  # noqa: ANN401
    ) -> JointResult:
        """
        Two questions against each other.

        Args:
            rows: question whose categories are the rows; an option as "question.option".
            columns: question whose categories are the columns.
            within: public question, for a table of each of its categories.
            weights: one a report, in the order of a folder's file.
            options: ``margins``, ``wave``.

        Raises:
            SurveyError: there is no such table, or not yet; says why.
        """
        found = self._answer("crosstab", {"rows": rows, "columns": columns, "within": within, **options}, weights)
        tables = found.get("tables", [found])
        return _result(found, [{**_within(found, table), **cell} for table in tables for cell in table["cells"]])

    def compare(
        self,
        outcome: str,
        groups: str,
        category: str | None = None,
        weights: ArrayLike | None = None,
        **options: Any,  # noqa: ANN401
    ) -> JointResult:
        """
        A share or a mean among groups.

        Args:
            outcome: question that is compared.
            groups: question whose categories are the groups.
            category: of the outcome; its last one without.
            weights: one a report, in the order of a folder's file.
            options: ``margins``, ``wave``.

        Raises:
            SurveyError: there is no such comparison, or not yet; says why.
        """
        asked = {"outcome": outcome, "groups": groups, "category": category, **options}
        found = self._answer("compare", asked, weights)
        return _result(found, found["values"])

    def pairs(self, wave: int | None = None) -> JointResult:
        """
        Every pair of questions tested for independence, with q values.

        Raises:
            SurveyError: there is none, or not yet; says why.
        """
        found = self._answer("pairs", {"wave": wave})
        return _result(found, found["pairs"])

    def model(
        self,
        outcome: str,
        on: Sequence[str],
        weights: ArrayLike | None = None,
        **options: Any,  # noqa: ANN401
    ) -> JointResult:
        """
        One question explained by others.

        Args:
            outcome: question that is explained.
            on: those that explain it.
            weights: one a report, in the order of a folder's file.
            options: ``model``, ``errors``, ``cluster``, ``at``, ``margins``, ``wave``, as of the verb ``regress``.

        Raises:
            SurveyError: there is no such model, or not yet; says why.
        """
        found = self._answer("regression", {"outcome": outcome, "on": list(on), **options}, weights)
        return _result(found, [{**one, "shown": one["estimate"]} for one in found["coefficients"]])

    def frame(self, library: str | None = None) -> Any:  # noqa: ANN401 - of a library that need not be installed
        """``estimates`` for ``"pandas"`` or ``"polars"``; without a name, for the first of them that is installed."""
        return frame(self.estimates, library)

    def plot(self) -> Any:  # noqa: ANN401 - matplotlib's
        """The shares with their limits; gives matplotlib's figure."""
        return plot_intervals([row for row in self.estimates if row["kind"] == "share"])

    def _answer(self, kind: str, options: Row, weights: ArrayLike | None = None) -> Row:
        if self.reports is None:
            raise EstimateError("an export holds no reports: open the folder of all files, or the aggregator's address")
        return self.reports.answer(kind, options, weights)


def open_results(
    place: str | Path, survey: str | None = None, key: str | None = None, key_file: Path | None = None
) -> OpenResults:
    """
    The results of a survey.

    Args:
        place: an ``export.json``, a folder of files, or the address of an aggregator.
        survey: its name; of an address it must be given.
        key: a researcher's, for an address; without, from ``key_file``, ``SOTTOVOCE_KEY_FILE`` or ``SOTTOVOCE_KEY``.
        key_file: holds it.

    Raises:
        SurveyError: there is nothing of this kind; says why.
    """
    if isinstance(place, str) and "://" in place:
        if survey is None:
            raise SpecError("name the survey at this address with survey=")
        reports = AddressReports(place, survey, key or read_key(key_file))
        return OpenResults(MappingProxyType(reports.export()), reports)
    path = Path(place)
    if not path.is_dir():
        return OpenResults(_export(path, survey), None)
    beside = path / EXPORT
    return OpenResults(_export(beside, survey) if beside.is_file() else None, FolderReports(path, survey))


def _export(path: Path, survey: str | None) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(LARGEST))
    except (OSError, ValueError, RecursionError):
        raise SpecError(f"{path.name} cannot be read as JSON") from None
    if isinstance(found, dict) and "rehearsal" in found:
        raise SpecError(f"{path.name}: {INVENTED}")
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise SpecError(f"{path.name} is no export of results ({FORMAT})")
    if survey is not None and found["survey"] != survey:
        raise SpecError("the file holds the results of another survey than the one that is named")
    return MappingProxyType(found)


def _of(question: Row) -> Sequence[Row]:
    """The estimates of a question; of a number its mean, the shares of its bins and its quantiles."""
    if "estimates" in question:
        return list(question["estimates"])
    return [question["mean"], *question["histogram"], *question["quantiles"]]


def _estimate(question: Row, estimate: Row) -> Row:
    row = {"question": question["name"], "n": question["n"], **estimate}
    return {**row, "shown": row.get("clipped", row.get("raw"))}


def _within(found: Row, table: Row) -> Row:
    return {found["within"]: table["category"]} if "within" in found else {}


def _result(document: Row, rows: Sequence[Row]) -> JointResult:
    return JointResult(MappingProxyType(document), tuple(rows))
