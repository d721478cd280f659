"""Analyses of any file of randomized answers: ``from sottovoce.aggregator import open_data``.

The columns of the file become questions, see ``analysis.data_file``; tables and models are those of ``open_results``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from numpy.typing import ArrayLike
from sottovoce.aggregator.analysis.data_file.data_columns import data_columns, is_count, states_of
from sottovoce.aggregator.analysis.data_file.parse_channel import parse_channel
from sottovoce.aggregator.analysis.data_file.read_table import FileTable, read_table
from sottovoce.aggregator.analysis.data_file.shares import results_document, share_rows, shares_of_file, weights_of
from sottovoce.aggregator.analysis.estimates import question_result
from sottovoce.aggregator.analysis.mixtures.mixture import Probabilities, mixture_of_counts
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import Request
from sottovoce.aggregator.estimators.intervals import METHODS
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, IntervalRule
from sottovoce.aggregator.export.results_client.open_results import JointResult, OpenResults, of_mixture
from sottovoce.aggregator.export.results_client.sources import ReadColumns
from sottovoce.aggregator.surveys.survey_file import parse_yaml, read_survey_file
from sottovoce.shared.answers import Domain
from sottovoce.shared.errors import EstimateError, SpecError, error_message
from sottovoce.shared.spec import Question, Survey

SURVEY_FILES = ("survey.yaml", "survey.yml", "survey.json")
"""Names of a survey file beside the data."""

MOST_CHANNELS = 1 << 22
"""Largest file of channels, in bytes."""


class DataReports(ReadColumns):
    """Rows of a file, whose columns are reports, as a source of analyses."""

    def __init__(self, columns: Columns, table: FileTable) -> None:
        self.columns, self.table = columns, table

    @property
    def survey(self) -> Survey:
        """Survey that the channels describe."""
        return self.columns.survey

    def _run(self, asked: Request, columns: Columns, weights: ArrayLike | None) -> dict[str, Any]:
        """Run one analysis; ``weights`` may also be the name of a column of the file, and ``cluster_effect`` of ids."""
        numbers = None if weights is None else weights_of(self.table, weights)
        return asked.of_file(self.table, lambda _: columns, numbers)


@dataclass(frozen=True)
class OpenData(OpenResults):
    """An open file of answers: ``shares``, ``crosstab``, ``compare``, ``regress``, ``pairs``, ``plot`` and ``frame``.

    ``columns`` are the columns of the file as reports; ``notes`` say what its figures do not, such as its weights;
    ``states`` tell how many answered and how many saw a question, by name, where a column ``<name>_state`` does.
    """

    reports: DataReports
    columns: Columns
    notes: tuple[str, ...] = ()
    states: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def questions(self) -> tuple[str, ...]:
        """Names of the columns that can be analysed."""
        return tuple(each.name for each in self.columns.survey.questions)

    @property
    def estimates(self) -> tuple[dict[str, Any], ...]:
        """Rows of ``shares``, for all columns."""
        return self.shares().rows

    def shares(
        self, *questions: str, interval: str = DEFAULT_RULE.method, confidence: float = 0.95,
        weights: ArrayLike | None = None, strata: str | None = None, clusters: str | None = None,
        anchors: Mapping[str, str] = MappingProxyType({}),
    ) -> JointResult:  # fmt: skip
        """Estimate the shares of each column's options; of a public number its mean.

        Args:
            questions: names of columns; none for all, but for weights, strata and clusters.
            interval: one of ``intervals.METHODS``; with weights, strata or clusters for shares beyond 0 or 1 only.
            confidence: level of the limits.
            weights: name of a column of weights, or one number for each row.
            strata: name of the column of strata, of which each has at least two clusters, or rows.
            clusters: name of the column of clusters.
            anchors: known share of yes, such as "0", by name of a yes/no column that shows careless reports.

        Raises SurveyError if there is no such column or method, or the design tells no variance.
        """
        of_file = self.reports.table, self.columns, questions, _rule(interval, confidence)
        document = shares_of_file(*of_file, weights, strata, clusters, anchors)
        return JointResult(MappingProxyType(document), tuple(share_rows(document)))

    def mixture(  # type: ignore[override] # a file has columns, and no plan
        self, response: str, design: str, p: Probabilities, group: str | None = None, draws: int | None = None,
        weights: ArrayLike | None = None, **options: Any,  # noqa: ANN401
    ) -> JointResult:  # fmt: skip
        """Estimate the shares of a design whose channel holds an unknown share, as ``mixture_of_file``; ``options`` are
        ``formula``, ``confidence``.
        """
        given = {"response": response, "design": design, "p": p, "group": group}
        return of_mixture(self._answer("design", {**given, "draws": draws, **options}, weights))

    def list_experiment(self, count: str | Sequence[str], arm: str, **options: Any) -> JointResult:  # noqa: ANN401
        """Estimate a sensitive share from a column of counts of items, or one for each arm; ``options`` are ``second``,
        ``treated``, ``items``, ``formula``, ``direct``, ``confidence``, as in ``sottovoce results list-experiment``.
        """
        document = self._answer("list_experiment", {"count": _listed(count), "arm": arm, **options})
        rows = tuple({"treated": each["treated"], **each["share"]} for each in (document, *document.get("further", ())))
        return JointResult(MappingProxyType(document), rows)

    regress = OpenResults.model
    """Fit a regression of one column on others; the same as ``model``."""


def open_data(
    path: str | Path, channels: Mapping[str, Any] | str | Path | None = None, survey: str | Path | None = None,
    *, table: FileTable | None = None,
) -> OpenData:  # fmt: skip
    """Open a file of randomized answers: CSV, TSV, XLSX, ODS, Parquet, SPSS, Stata or SAS.

    Args:
        path: the file.
        channels: channel by name of the column, such as ``{"cheated": "coin_flip"}``, rows P(report | truth), or the
            path of a YAML file with them. Columns without one are public, except where ``<name>_channel`` or a survey
            says otherwise.
        table: the file's table, if it was read already.
        survey: a survey file whose questions have the columns' names; by default ``survey.yaml`` in the file's folder.

    Raises SurveyError, which names column and line, if the file cannot be read.
    """
    place = Path(path)
    given = channels if isinstance(channels, Mapping) else {} if channels is None else read_channels(Path(channels))
    candidates = (place.parent / name for name in SURVEY_FILES)
    found = Path(survey) if survey is not None else next((each for each in candidates if each.is_file()), None)
    return of_table(table or read_table(place), given, None if found is None else read_survey_file(found))


def of_table(table: FileTable, channels: Mapping[str, Any], survey: Survey | None = None) -> OpenData:
    """Open a table that was read; ``channels`` are by name of the column, and ``survey`` has questions of their
    names.
    """
    columns = data_columns(table, channels, survey)
    return OpenData(MappingProxyType({}), DataReports(columns, table), columns, tuple(table.notes), states_of(table))


def read_channels(path: Path) -> Mapping[str, Any]:
    """Read channels by column from YAML; raise SpecError if the file cannot be read or is no map."""
    try:
        data = path.read_bytes()[: MOST_CHANNELS + 1]
    except OSError:
        raise SpecError(f"{path.name} cannot be read") from None
    found = parse_yaml(data) if len(data) <= MOST_CHANNELS else None
    if not isinstance(found, dict):
        raise SpecError(f"{path.name} is no map of columns and their channels")
    return found


def estimate(
    counts: Mapping[str, int], mechanism: Any,  # noqa: ANN401 - text, rows or a map
    interval: str = DEFAULT_RULE.method, confidence: float = 0.95,
) -> JointResult:  # fmt: skip
    """Estimate shares from counts alone, such as 30 yes of 100 through the coin flip.

    Args:
        counts: number of reports by value, such as ``{"yes": 30, "no": 70}``.
        mechanism: the channel: text such as ``"coin_flip"``, or rows P(report | truth).
        interval: one of ``intervals.METHODS``.
        confidence: level of the limits.

    Raises SurveyError, which says why, if the channel is none, or cannot report a value.
    """
    if not counts or not all(map(is_count, counts.values())):
        raise EstimateError("counts must be whole numbers from 0, one for each reported value")
    try:
        channel = parse_channel(mechanism)
        if channel.public:
            raise ValueError("a public answer needs no estimate: divide the counts")
        reading = channel.read(list(counts))
    except ValueError as error:
        raise SpecError(f"the channel: {error_message(error)}") from None
    kind = "boolean" if len(reading.options) == 2 else "select_one"
    question = Question("answer", kind, {}, {}, (), Domain(reading.options), reading.channel)
    tally = {reading.reports[value]: int(count) for value, count in counts.items()}
    result = question_result(question, [(reading.channel, tally)], _rule(interval, confidence))
    document = results_document(channel.name, sum(tally.values()), [result])
    return JointResult(MappingProxyType(document), tuple(share_rows(document)))


def mixture(
    design: str, p: Probabilities, yes: Sequence[int] | int = (), n: Sequence[int] | int = (),
    counts: Mapping[int, int] | None = None, draws: int = 1, confidence: float = DEFAULT_RULE.confidence,
) -> JointResult:  # fmt: skip
    """Estimate the shares of a design with an unknown share from counts alone, as ``mixture_of_counts``."""
    return of_mixture(mixture_of_counts(design, p, yes, n, counts, draws, confidence))


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else [*names]


def _rule(interval: str, confidence: float) -> IntervalRule:
    if interval not in METHODS or not 0.5 <= confidence < 1:
        raise EstimateError(f"an interval is one of {', '.join(METHODS)}, with a confidence from 0.5 to below 1")
    return replace(DEFAULT_RULE, method=interval, confidence=confidence)
