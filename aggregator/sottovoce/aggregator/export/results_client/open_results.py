"""Results in Python: ``from sottovoce.aggregator import open_results``.

Estimates of each question and joint results are objects with figures, text and a JSON document. ``frame()`` returns a
pandas or polars table if installed; ``plot()`` needs matplotlib (extra ``[plot]``).
"""

import importlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from numpy.typing import ArrayLike
from sottovoce.aggregator.analysis.results_document import FORMAT, estimates_of, export_document
from sottovoce.aggregator.analysis.tables.ml_table import BlockFit, fit_block
from sottovoce.aggregator.analysis.text_report import in_words
from sottovoce.aggregator.export.read_archive import results_of_archive
from sottovoce.aggregator.export.results_client.http_source import AddressReports, read_key
from sottovoce.aggregator.export.results_client.sources import FolderReports, ReportSource
from sottovoce.aggregator.file_formats.provenance import INVENTED
from sottovoce.shared.errors import EstimateError, SpecError, install_command

_FIGURES = {"n", "shown", "raw", "clipped", "estimate", "std_error", "low", "high", "a", "b", "confidence", "method"}
_WIDTH, _HEIGHT = 7.0, 0.35  # inches: width of the figure, height of a row


def plot_intervals(rows: Sequence[Mapping[str, Any]]) -> Any:  # noqa: ANN401 - matplotlib's figure
    """Plot a point with its interval for each row that has ``shown``; labels are the row's text values.

    Raises EstimateError if matplotlib is not installed, or no row has a figure.
    """
    try:
        figures = importlib.import_module("matplotlib.figure")
    except ModuleNotFoundError:
        raise EstimateError(f"a plot needs matplotlib: {install_command('plot')}") from None
    drawn = [row for row in rows if row.get("shown") is not None]
    if not drawn:
        raise EstimateError("there is no figure to draw")
    figure = figures.Figure(figsize=(_WIDTH, 1 + _HEIGHT * len(drawn)), layout="constrained")
    axes = figure.subplots()
    points = [float(row["shown"]) for row in drawn]
    axes.errorbar(points, range(len(drawn)), xerr=_lengths(drawn), fmt="o", color="black", capsize=3)
    axes.set_yticks(range(len(drawn)), labels=[_name(row) for row in drawn])
    axes.invert_yaxis()
    axes.set_xlabel("estimate with 95% limits")
    return figure


def _lengths(rows: Sequence[Mapping[str, Any]]) -> list[list[float]]:
    """Return the distances from each point to its limits; NaN for an unbounded side."""
    ends: list[list[float]] = [[], []]
    for row in rows:
        for side, limit in enumerate((row.get("low"), row.get("high"))):
            ends[side].append(math.nan if limit is None else abs(float(limit) - float(row["shown"])))
    return ends


def _name(row: Mapping[str, Any]) -> str:
    return ", ".join(str(value) for key, value in row.items() if key not in _FIGURES and isinstance(value, str))


LIBRARIES = ("pandas", "polars")


def frame(rows: Sequence[Mapping[str, Any]], library: str | None = None) -> Any:  # noqa: ANN401 - a library's own
    """Return the rows as a data frame with a column for each key; missing where a row lacks the key.

    ``library`` is one of ``LIBRARIES``; None for the first that is installed. Raises EstimateError if it is not
    installed, or unknown.
    """
    if library not in {None, *LIBRARIES}:
        raise EstimateError(f"a frame is one of: {', '.join(LIBRARIES)}")
    columns = list(dict.fromkeys(key for row in rows for key in row))
    table = {column: [row.get(column) for row in rows] for column in columns}
    for name in LIBRARIES if library is None else (library,):
        try:
            return importlib.import_module(name).DataFrame(table)
        except ModuleNotFoundError:
            continue
    raise EstimateError(f"a frame needs {library or 'pandas or polars'}, which is not installed")


EXPORT = "export.json"
LARGEST = 1 << 28
"""Most bytes to read of an export."""

Row = dict[str, Any]


@dataclass(frozen=True)
class JointResult:
    """Result of a joint analysis: a table, a comparison, tests of pairs, or a model.

    Attributes:
        document: all figures, as a JSON document.
        rows: main figures, one flat row for each cell, group, pair or coefficient.
    """

    document: Mapping[str, Any]
    rows: tuple[Row, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings for the reader of the figures."""
        return tuple(self.document["warnings"])

    def frame(self, library: str | None = None) -> Any:  # noqa: ANN401 - of a library that need not be installed
        """Return ``rows`` as a ``"pandas"`` or ``"polars"`` data frame; by default of the first one installed."""
        return frame(self.rows, library)

    def plot(self) -> Any:  # noqa: ANN401 - matplotlib's
        """Plot the figures with their limits; returns a matplotlib figure."""
        return plot_intervals(self.rows)

    def __str__(self) -> str:
        """Return the result as text, as on the command line."""
        lines: list[str] = []
        for shown in in_words(dict(self.document)):
            lines += [shown.title, *("  ".join(line) for line in (shown.headings, *shown.lines) if line)]
            lines += shown.sentences
        return "\n".join(lines)


@dataclass(frozen=True)
class OpenResults:
    """Results of one survey.

    Attributes:
        export: the estimates, in the form of ``export.schema.json``; counted from the reports if the folder has none.
        reports: source of joint analyses; None if there are estimates only.
    """

    export: Mapping[str, Any]
    reports: ReportSource | None

    @property
    def estimates(self) -> tuple[Row, ...]:
        """Rows of shares, means and quantiles with ``question``, ``option``, ``n``, ``shown``, ``low``, ``high``, ...

        ``among`` names the people whom a row describes: "all", "answered", "asked_and_answered", or corrected for
        careless answers "careful" or "careful_answered". Joint results also have ``people`` "asked", and
        "perhaps_asked_and_answered" where some of those who gave no answer may not have been asked.
        """
        return tuple(row for question in self.export["questions"] for row in _estimates(question))

    def crosstab(
        self, rows: str, columns: str, within: str | None = None, weights: ArrayLike | None = None,
        **options: Any,  # noqa: ANN401
    ) -> JointResult:  # fmt: skip
        """Cross-tabulate two questions.

        Args:
            rows: question of the rows, or "question.option".
            columns: question of the columns, likewise.
            within: third question, for a table of each of its categories.
            weights: one weight per report, in the order of the folder's file.
            options: ``among``, ``margins``, ``wave``, ``where``, ``confidence``.

        Raises SurveyError, which says why, if the table is not available.
        """
        found = self._answer("crosstab", {"rows": rows, "columns": columns, "within": within, **options}, weights)
        cells = [(table, cell) for table in found.get("tables", [found]) for cell in table["cells"]]
        return _result(found, [{**({within: table["category"]} if within else {}), **cell} for table, cell in cells])

    def compare(
        self, outcome: str, groups: str, category: str | None = None, weights: ArrayLike | None = None,
        **options: Any,  # noqa: ANN401
    ) -> JointResult:  # fmt: skip
        """Compare a share or a mean among groups.

        The rows of the result have ``declined``, the share of people who gave no answer, where some did not.

        Args:
            outcome: the outcome.
            groups: question whose categories are the groups.
            category: category of the outcome; by default the last answer.
            weights: one weight per report, in the order of the folder's file.
            options: ``against``, ``among``, ``margins``, ``wave``, ``where``, ``confidence``.

        Raises SurveyError, which says why, if the comparison is not available.
        """
        asked = {"outcome": outcome, "groups": groups, "category": category, **options}
        found = self._answer("compare", asked, weights)
        declined = {one["group"]: {"declined": one["shown"]} for one in found.get("declined", ())}
        return _result(found, [one | declined.get(one["group"], {}) for one in found["values"]])

    def pairs(self, wave: int | None = None, **options: Any) -> JointResult:  # noqa: ANN401
        """Test every pair of questions for independence, with q values; ``options`` are ``where``.

        Raises SurveyError, which says why, if the tests are not available.
        """
        found = self._answer("pairs", {"wave": wave, **options})
        return _result(found, found["pairs"])

    def block(self, *questions: str) -> BlockFit:
        """Fit the joint shares of at least two questions of one block, and test how well its channel explains the
        reports.

        Raises SurveyError, which says why, if there are no rows of reports, or the block cannot be fitted.
        """
        columns = getattr(self.reports, "columns", None)
        if columns is None:
            raise EstimateError("a block is fitted from rows of reports: open a folder or a file of them")
        return fit_block(columns, questions)

    def test(
        self, question: str, shares: Mapping[str, float] | None = None, mean: float | str | None = None,
        **options: Any,  # noqa: ANN401
    ) -> JointResult:  # fmt: skip
        """Test a question against known values.

        Args:
            question: the question, or "question.option".
            shares: known shares by category, of which one may be left out; by default equal, of arm by its weights.
            mean: known mean of a number, or a date such as "2026-01-31".
            options: ``among``, ``wave``, ``where``, ``confidence``.

        Raises SurveyError, which says why, if the test is not available.
        """
        found = self._answer("test", {"question": question, "shares": shares, "mean": mean, **options})
        return _result(found, [{**one, "p": found["p"]} for one in found["values"]])

    def mixture(self, question: str, **options: Any) -> JointResult:  # noqa: ANN401
        """Estimate the shares of the planned design in which a question stands; ``options`` are ``formula``,
        ``wave``, ``where``, ``confidence``.

        Raises SurveyError, which says why, if they are not available.
        """
        return of_mixture(self._answer("mixture", {"question": question, **options}))

    def items(self, *questions: str, **options: Any) -> JointResult:  # noqa: ANN401
        """Fit one trait behind several yes/no questions of each person, or estimate how many of them are yes.

        ``options`` are ``model``, ``wave``, ``where``, ``confidence``.

        Raises SurveyError, which says why, if the model is not available.
        """
        found = self._answer("items", {"questions": list(questions), **options})
        figures = [(each["name"], each["difficulty"]) for each in found.get("items", ())]
        rows = [{"name": name, **one} for name, one in (figures or [("mean of the sum", found["mean"])])]
        return _result(found, [{**one, "shown": one["estimate"]} for one in rows])

    def model(
        self, outcome: str | None = None, on: Sequence[str] | None = None, weights: ArrayLike | None = None,
        *, formula: str | None = None, **options: Any,  # noqa: ANN401
    ) -> JointResult:  # fmt: skip
        """Fit a regression of one question on others.

        Args:
            outcome: the outcome; or a whole formula.
            on: the predictors.
            weights: one weight per report, in the order of the folder's file.
            formula: outcome and terms, in the place of both: ``"cheated ~ year * sex + I(age^2)"``.
            options: ``model``, ``errors``, ``among``, ``declining``, ``scales``, ``cluster``, ``cluster_effect``,
                ``points``, ``at``, ``margins``, ``wave``, ``where``, ``confidence``, ``strata``, as in
                ``sottovoce results regress``.

        Raises SurveyError, which says why, if the model is not available.
        """
        if on is None and outcome is not None and "~" in outcome:
            outcome, formula = None, outcome
        terms = {"outcome": outcome, "on": None if on is None else list(on), "formula": formula}
        found = self._answer("regression", {**terms, **options}, weights)
        return _result(found, [{**one, "shown": one["estimate"]} for one in found["coefficients"]])

    def frame(self, library: str | None = None) -> Any:  # noqa: ANN401 - of a library that need not be installed
        """Return ``estimates`` as a ``"pandas"`` or ``"polars"`` data frame; by default of the first one installed."""
        return frame(self.estimates, library)

    def plot(self) -> Any:  # noqa: ANN401 - matplotlib's
        """Plot the shares with their limits, of those who answered where some did not; returns a matplotlib figure."""
        shares = [row for row in self.estimates if row["kind"] == "share" and "careful" not in row["among"]]
        answered = {row["question"] for row in shares if row["among"] != "all"}
        return plot_intervals([row for row in shares if row["among"] != "all" or row["question"] not in answered])

    def _answer(self, kind: str, options: Row, weights: ArrayLike | None = None) -> Row:
        if self.reports is None:
            raise EstimateError("an export holds no reports: open the folder of all files, or the aggregator's address")
        return self.reports.answer(kind, options, weights)


def open_results(
    place: str | Path, survey: str | None = None, key: str | None = None, key_file: Path | None = None,
    covariates: Path | None = None,
) -> OpenResults:  # fmt: skip
    """Open the results of a survey.

    Args:
        place: an ``export.json``, a folder of files, or the address of an aggregator.
        survey: name of the survey; required for an address.
        key: researcher's key for an address; by default from ``key_file``, ``SOTTOVOCE_KEY_FILE`` or ``SOTTOVOCE_KEY``.
        key_file: file with the key.
        covariates: with a folder, file of your own columns, one line for each report in the order of its file.

    Raises SurveyError, which says why, if the results cannot be opened.
    """
    if covariates is not None and not Path(place).is_dir():
        raise SpecError("covariates are for a folder of files: only its reports have an order")
    if isinstance(place, str) and "://" in place:
        if survey is None:
            raise SpecError("name the survey at this address with survey=")
        reports = AddressReports(place, survey, key or read_key(key_file))
        return OpenResults(MappingProxyType(reports.export()), reports)
    path = Path(place)
    if not path.is_dir():
        return OpenResults(_export(path, survey), None)
    export_file, folder = path / EXPORT, FolderReports(path, survey, covariates)
    if export_file.is_file():
        return OpenResults(_export(export_file, survey), folder)
    return OpenResults(MappingProxyType(export_document(results_of_archive(folder.archive))), folder)


def _export(path: Path, survey: str | None) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(LARGEST))
    except (OSError, ValueError, RecursionError):
        raise SpecError(f"{path.name} cannot be read as JSON") from None
    # Simulated results must never be mistaken for real ones.
    if isinstance(found, dict) and "rehearsal" in found:
        raise SpecError(f"{path.name}: {INVENTED}")
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise SpecError(f"{path.name} is no export of results ({FORMAT})")
    if survey is not None and found["survey"] != survey:
        raise SpecError("the file holds the results of another survey than the one that is named")
    return MappingProxyType(found)


def _estimates(question: Row) -> Iterator[Row]:
    """Yield the estimates of a question; for a number its mean, the shares of its bins and its quantiles."""
    for among, one in estimates_of(question):
        # Of whom a share tells where not all were asked, the question's ``asked_only`` says.
        whole = {"asked": "all", "perhaps_asked": "all"}
        people = {"question": question["name"], "n": question["n"], "among": whole.get(among, among)}
        yield {**people, **one, "shown": one.get("clipped", one.get("raw"))}


def of_mixture(document: Row) -> JointResult:
    """Return a ``sottovoce-mixture/1`` document with a row for each share."""
    shares = document["shares"].items()
    return _result(
        document, [{"name": name, **one, "shown": one["share"], "std_error": one["se"]} for name, one in shares]
    )


def _result(document: Row, rows: Sequence[Row]) -> JointResult:
    return JointResult(MappingProxyType(document), tuple(rows))
