"""The planned comparisons on the page "Results": made once the survey is closed, formatted as on Tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flask import current_app
from sottovoce.aggregator.api.joint_results import Calculating, JointResults
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.studio.labels import SurveyVariables
from sottovoce.aggregator.studio.results.arm_split import CALCULATING
from sottovoce.aggregator.studio.results.table_view import ShownTable, TablesInWords
from sottovoce.shared.arms.analysis_plan import planned_comparisons
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.spec import Survey


@dataclass(frozen=True)
class PlannedResults:
    """Planned comparisons of a closed survey, or the reason why there are none yet.

    Attributes:
        count: number of planned comparisons; 0 without a plan.
        made: documents of the comparisons, in the order of the plan.
        why: ``open``, ``calculating`` or ``refused``; "" with results.
    """

    count: int = 0
    made: Sequence[Mapping[str, Any]] = ()
    why: str = ""


def planned_results(survey: Survey) -> PlannedResults:
    """Return the planned comparisons of a survey."""
    count = len(planned_comparisons(survey))
    if not count:
        return PlannedResults()
    joint: JointResults = current_app.extensions["joint_results"]
    try:
        return PlannedResults(count, joint.planned(survey)["comparisons"])
    except (Calculating, Refusal):
        return PlannedResults(count, why=CALCULATING)
    except EstimateError as error:
        return PlannedResults(count, why="open" if error.code == "still_open" else "refused")


def planned_tables(planned: PlannedResults, survey: Survey, words: Words) -> list[ShownTable]:
    """Format each comparison: the figure of each arm, and the measure that was planned.

    Args:
        planned: the comparisons.
        survey: newest revision of the survey.
        words: the reader's language.
    """
    tables: list[ShownTable] = []
    before: Mapping[str, Any] = {}
    for made in planned.made:
        title, values, measured = _parts(made, TablesInWords(SurveyVariables(survey, words)))
        asked = {key: value for key, value in made["planned"].items() if key != "measure"}
        if asked != before or made["comparison"] is None:
            tables.append(values)
        before = asked
        if isinstance(measured, ShownTable):
            tables.append(replace(measured, title=f"{title}: {measured.title}", sentences=()))
        elif measured:
            tables[-1] = replace(tables[-1], sentences=[*measured, *tables[-1].sentences])
    return tables


def _parts(made: Mapping[str, Any], words: TablesInWords) -> tuple[str, ShownTable, ShownTable | Sequence[str] | None]:
    """Return the title, the figures of the arms, and the differences as a table, or the ratios as sentences."""
    if made["comparison"] is None:
        title = words.names.label(made["planned"]["question"])
        return title, ShownTable(title, sentences=[words.words.translate("results_plan_refused")]), None
    shown = words.compare(made["comparison"])
    values = replace(shown.tables[0], sentences=[*shown.tables[0].sentences, *shown.notes])
    differences = next(iter(shown.tables[1:]), None)
    if differences is None or made["planned"]["measure"] == "difference":
        return values.title, values, differences
    return values.title, values, differences.sentences
