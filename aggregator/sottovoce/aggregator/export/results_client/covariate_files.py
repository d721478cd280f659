"""Covariates from outside: an analyst's own columns, such as arm or region, beside the reports of a folder of files."""

from dataclasses import replace
from pathlib import Path

from sottovoce.aggregator.analysis.data_file.data_columns import data_columns
from sottovoce.aggregator.analysis.data_file.read_table import read_table
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.shared.errors import SpecError
from sottovoce.shared.spec import Survey


def with_covariates(columns: Columns, path: Path) -> Columns:
    """Add the columns of a file to reports as public questions.

    Args:
        columns: the reports.
        path: file with a header and one line for each report, in the order of the reports; an empty cell is missing.

    Raises:
        SpecError: the file cannot be read, has another number of lines, or a column has the name of a question.
    """
    table = read_table(path)
    if len(table) != len(columns):
        raise SpecError(
            f"{path.name}: there are {len(table):,} lines for {len(columns):,} reports; give each report one"
        )
    added = data_columns(table, {})
    if len(added.revisions) > 1 or added.survey.private:
        raise SpecError(f"{path.name}: covariates are public; leave columns of channels out")
    taken = [name for name in added.values if columns.question(name) is not None]
    if taken:
        raise SpecError(f"{path.name}: the survey has a question '{taken[0]}'; rename the column")
    revisions = tuple(_with_questions(survey, added.survey) for survey in columns.revisions)
    return replace(columns, revisions=revisions, values={**columns.values, **added.values})


def _with_questions(survey: Survey, added: Survey) -> Survey:
    # New questions come last, so that the places of the survey's own do not change.
    return replace(survey, questions=(*survey.questions, *added.questions))
