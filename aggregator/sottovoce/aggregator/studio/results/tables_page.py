"""Tables: any two questions against each other, a share or a mean among groups, and which pairs hang together."""

from flask import Response
from sottovoce.aggregator.http.routing import Kind, Query, Route
from sottovoce.aggregator.studio.results.analysis_page import joint_file, joint_page, published_subject
from sottovoce.aggregator.studio.survey_frame import later

KINDS = ("crosstab", "compare", "pairs")


def tables(name: str) -> Response:
    """The page; its address asks for a result, so that whoever follows it has the same computed again."""
    if (told := later(name, "tables")) is not None:
        return Response(told, content_type="text/html; charset=utf-8")
    return joint_page(published_subject(name, "tables"), "tables", KINDS)


def tables_file(name: str, file: str) -> Response:
    """The result of such an address to keep, as CSV, as a workbook or as JSON."""
    return joint_file(published_subject(name, "tables"), file, KINDS)


_PATH = "/dashboard/surveys/<name>/tables"
QUERY = (
    Query("kind", "Of analysis: crosstab, compare or pairs."),
    Query("rows", "Of a table."),
    Query("columns", "Of a table."),
    Query("within", "A public question, for a table of each of its categories."),
    Query("outcome", "What is compared."),
    Query("groups", "Among which it is compared."),
    Query("category", "Of the outcome."),
    Query("wave", "Only its reports."),
)
"""What is asked for."""
_REFUSED = ("still_open", "options_invalid", "estimate_impossible")
_MEDIA = ("text/csv", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/json")

ROUTES = (
    Route("studio.tables", "GET", _PATH, tables, "Questions against each other.", Kind.PAGE, ("text/html",),
          query=QUERY, refuses=_REFUSED),
    Route("studio.tables_file", "GET", f"{_PATH}/<file>", tables_file, "The same result as a file.", Kind.PAGE,
          _MEDIA, query=QUERY, refuses=(*_REFUSED, "not_found")),
)  # fmt: skip
"""The page of tables and its files."""
