"""Test of one question against known values, formatted for the page."""

from sottovoce.aggregator.studio.labels import SurveyVariables
from sottovoce.aggregator.studio.results.table_view import (
    Document,
    ShownAnswer,
    ShownTable,
    TablesInWords,
    bars,
    interval_heading,
)


def known_values(names: SurveyVariables, document: Document) -> ShownAnswer:
    """Format a test of known values.

    Args:
        names: the survey's variables with their labels.
        document: result document of the test.
    """
    tables, translate, name = TablesInWords(names), names.words.translate, document["question"]
    write, is_share = tables.write, document["values"][0]["category"] is not None
    show = write.percent if is_share else write.figure
    labels = [names.category(name, one["category"]) if is_share else translate("results_mean")
              for one in document["values"]]  # fmt: skip
    drawn = [tables.to_draw(label, one, show) for label, one in zip(labels, document["values"], strict=True)]
    known = [show(one["known"]) for one in document["values"]]
    lines = [(each.name, value, each.value, each.limits) for each, value in zip(drawn, known, strict=True)]
    headings = ["", translate("joint_known"), translate("models_estimate"), interval_heading(names.words, document)]
    title = translate("joint_test_title", question=names.label(name), n=names.words.number(document["n"]))
    scale = (0.0, 1.0) if is_share else (None, None)
    table = ShownTable(title, headings, lines, bars(drawn, *scale), _sentences(tables, document))
    return ShownAnswer("", [table], tables.notes(document))


def _sentences(tables: TablesInWords, document: Document) -> list[str]:
    translate, write = tables.words.translate, tables.write
    found = [*tables.among(document), translate("joint_test_known", p=write.p_equals(document["p"]))]
    if document["statistic"] is not None:
        figures = {"statistic": write.figure(document["statistic"]), "df": tables.words.number(document["df"])}
        found.append(translate("joint_test_statistic", **figures))
    return [*found, translate(f"joint_test_{document['method'].partition('-')[0]}")]
