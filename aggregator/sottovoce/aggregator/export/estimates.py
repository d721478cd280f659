"""Write the estimates as a table for spreadsheets: of all respondents, then of each wave, then of each cohort."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sottovoce.aggregator.analysis.estimates import RevisionCounts, SurveyResults, analyse
from sottovoce.aggregator.analysis.results_document import export_document
from sottovoce.aggregator.export.labels import option_labels, question_label
from sottovoce.aggregator.export.workbook import write_workbook
from sottovoce.aggregator.file_formats.csv_cells import write_csv
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.shared.spec import Question

_FIGURES = (
    "kind", "option", "n", "count", "raw", "clipped", "std_error", "low", "high", "method", "confidence",
    "simultaneous_low", "simultaneous_high", "band_low", "band_high", "a", "b",
)  # fmt: skip
_SURVEY = ("survey", "revision", "digest", "epsilon_total", "version", "closed")
COLUMNS = (*_SURVEY, "wave", "cohort", "question", "type", "label", "epsilon", "option_label", *_FIGURES, "among")


def estimate_rows(
    revisions: Sequence[RevisionCounts], about: About, wave: int | None = None
) -> Iterator[tuple[object, ...]]:
    """Yield the rows of the table, by ``COLUMNS``: of one wave only, or (None) of all together, then of each.

    ``revisions`` are all of one survey, oldest first. For an open survey, ``low`` and ``high`` are valid for one look,
    the bands for all looks.
    """
    whole = analyse(revisions, wave=wave)
    views = [whole]
    if wave is None and len(whole.waves) > 1:
        views += [analyse(revisions, wave=each) for each in range(len(whole.waves))]
    views += [analyse(revisions, cohort=group.name, wave=wave) for group in whole.cohorts]
    for view in views:
        yield from result_rows(view, about)


def write_estimates_csv(path: Path, revisions: Sequence[RevisionCounts], about: About, wave: int | None = None) -> None:
    """Write the table as CSV; arguments as for ``estimate_rows``."""
    write_csv(path, about, COLUMNS, estimate_rows(revisions, about, wave))


def write_estimates_xlsx(
    path: Path, revisions: Sequence[RevisionCounts], about: About, wave: int | None = None
) -> None:
    """Write the table as a workbook with a second sheet for provenance; text never becomes a formula or link."""
    write_workbook(path, about, [COLUMNS, *estimate_rows(revisions, about, wave)], "Estimates")


def result_rows(results: SurveyResults, about: About) -> Iterator[tuple[object, ...]]:
    """Yield the rows of one wave, cohort or the whole, by ``COLUMNS``."""
    document = export_document(results)
    survey = (*(document[key] for key in _SURVEY[:4]), about.version, document["closed"])
    for asked, result in zip(document["questions"], results.questions, strict=True):
        labels = _labels(result.question, results.survey.default_language)
        name = question_label(result.question, results.survey.default_language)
        leading = (results.wave, results.cohort, asked["name"], asked["type"], name, asked["epsilon"])
        for among, estimate in _estimates(asked):
            yield (*survey, *leading, labels.get(estimate["option"], ""), *(estimate[key] for key in _FIGURES), among)


def _labels(question: Question, language: str) -> dict[str, str]:
    return dict(zip(question.options, option_labels(question, language), strict=True))


def _estimates(asked: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each estimate with the people whom it describes."""
    whole = [asked["mean"], *asked["histogram"], *asked["quantiles"]] if "mean" in asked else asked["estimates"]
    yield from (("all", estimate) for estimate in whole)
    for part in (asked.get("answered"), asked.get("corrected")):
        if part is not None:
            yield from ((part["people"], estimate) for estimate in part["estimates"])
