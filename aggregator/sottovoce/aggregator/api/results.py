"""Serve surveys and results to researchers: list, publish, close, reopen, delete, estimates and export."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from flask import Response, current_app, g, jsonify, request
from sottovoce.aggregator.accounts.ownership import claim_name
from sottovoce.aggregator.analysis.estimates import RevisionCounts, SurveyResults, analyse
from sottovoce.aggregator.analysis.published_counts import revisions_of, snapshot_of
from sottovoce.aggregator.analysis.results_document import Population, export_document, whole_group
from sottovoce.aggregator.clock import day_of
from sottovoce.aggregator.estimators import DEFAULT_RULE
from sottovoce.aggregator.estimators.intervals import METHODS
from sottovoce.aggregator.http.headers import unless_known
from sottovoce.aggregator.http.paging import PAGING, page_of
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.http.routing import Kind, Query, Route
from sottovoce.aggregator.invitations.key_file import with_moduli
from sottovoce.aggregator.surveys.lifecycle import (
    check_reopening,
    may_stay_closed,
    newest,
    next_revision,
    reports_so_far,
)
from sottovoce.aggregator.surveys.privacy_limit import check_affordable
from sottovoce.shared import canonical
from sottovoce.shared.by_link.link_question import LinkQuestion, parse_link
from sottovoce.shared.errors import Problem, ReportRejected, SpecError
from sottovoce.shared.parse_survey import parse_survey

MAX_DIGITS = 4
MOST_DIGITS = 11
"""Maximum number of digits of a number of people."""


LEVEL = r"0?\.[5-9][0-9]{0,5}"
"""A confidence level from 0.5 to below 1."""


def results_of(name: str) -> SurveyResults:
    """Compute the results of a survey over all revisions and respondents, and record the reading.

    Raises ReportRejected if the survey is unknown.
    """
    revisions = _revisions(name)
    results = analyse(revisions)
    note_read(name, revisions)
    return results


def _revisions(name: str) -> Sequence[RevisionCounts]:
    revisions = revisions_of(current_app.extensions["storage"], name)
    if not revisions:
        raise ReportRejected("unknown_survey", "no survey has this name")
    return revisions


def note_read(name: str, revisions: Sequence[RevisionCounts]) -> None:
    """Record in the audit log which account reads which snapshot, before the server shows it."""
    today = day_of(current_app.extensions["clock"]())
    current_app.extensions["read_results"].note(g.who, name, snapshot_of(revisions), today)


def export_reply(
    name: str, results: SurveyResults, group: Population | None = None, arms: Sequence[tuple[str, SurveyResults]] = ()
) -> Response:
    """Return the results as a download that contains the head of the audit log, after recording the download there.

    Args:
        group: population of a group in which everybody answered; None for none.
        arms: results of each random arm, with its name.
    """
    storage, today = current_app.extensions["storage"], day_of(current_app.extensions["clock"]())
    current_app.extensions["read_results"].note_file(g.who, name, "export.json", today)
    reply = jsonify(export_document(results, storage.journal.head(), group, arms))
    reply.headers["Content-Disposition"] = "attachment; filename=export.json"
    return unless_known(reply)


def surveys() -> Response:
    """List the revisions of surveys on which the account has a role, with numbers of reports, in steps while open."""
    keys = ("name", "revision", "digest", "closed", "retired")
    known = [row for row in current_app.extensions["storage"].surveys() if g.actor.role(row.name)]
    page = page_of(known, lambda row: row.key, request.args)
    shown = page.document(lambda row: {key: getattr(row, key) for key in keys} | {"reports": reports_so_far(row)})
    return unless_known(jsonify(shown))


def publish(name: str) -> Response:
    """Publish the survey in the body; publishing the same survey again changes nothing.

    ``?retire=1`` also retires all earlier revisions. A correction opens a closed survey again; one that changes texts
    only does so with ``?open=1``.
    """
    survey = parse_survey(_submitted("survey"))
    if survey.name != name:
        raise SpecError([Problem("/name", "is not the name in the address")])
    check_affordable(survey)
    retire = request.args.get("retire", "0")
    reopen = request.args.get("open", "0")
    if not {retire, reopen} <= {"0", "1"}:
        raise Refusal("malformed", "retire and open are 0 or 1")
    storage = current_app.extensions["storage"]
    settings = current_app.extensions["settings"]
    with claim_name(storage, g.actor, name):
        following = next_revision(storage, with_moduli(storage, survey, settings))
        stay_closed = reopen == "0" and may_stay_closed(storage, following)
        stored = storage.publish(following, retire == "1", g.who, stay_closed=stay_closed)
    return jsonify({"name": stored.name, "revision": stored.revision, "digest": stored.digest})


def _submitted(what: str) -> object:
    try:
        return canonical.load(request.get_data())
    except ValueError as error:
        raise SpecError(f"the {what} {error}") from None


def close(name: str) -> Response:
    """Close a survey to reports; the first close also publishes all counts."""
    storage = current_app.extensions["storage"]
    newest(storage, name)
    storage.close_survey(name, day_of(current_app.extensions["clock"]()), g.who)
    return jsonify({"name": name, "closed": True})


def reopen(name: str) -> Response:
    """Reopen a survey, before its closing time and until its report ids are deleted.

    After a reopening, no later close publishes the remaining counts.
    """
    storage = current_app.extensions["storage"]
    check_reopening(storage, name, current_app.extensions["clock"]())
    storage.reopen_survey(name, g.who)
    return jsonify({"name": name, "closed": False})


def delete(name: str) -> Response:
    """Delete a survey except its log entries; its name is never used again, since devices remember it."""
    storage = current_app.extensions["storage"]
    newest(storage, name)
    storage.delete_survey(name, g.who)
    current_app.extensions["joint_results"].drop(name)
    current_app.extensions["rendered_results"].drop(name)
    return jsonify({"name": name, "deleted": True})


def estimates(name: str) -> Response:
    """Return estimates from the last snapshot, for all respondents or for ``?cohort=`` and ``?wave=``.

    ``?interval=`` names the interval method, ``?confidence=`` its level; ``?people=`` is the size of a group in which
    everybody answered.
    """
    results, group = _asked_for(name)
    return unless_known(jsonify(export_document(results, group=group)))


def export(name: str) -> Response:
    """Return the same estimates as a download."""
    return export_reply(name, *_asked_for(name))


def _asked_for(name: str) -> tuple[SurveyResults, Population | None]:
    people = _people_asked()
    interval, wave = request.args.get("interval", DEFAULT_RULE.method), wave_of(request.args.get("wave"))
    revisions = _revisions(name)
    written = request.args.get("confidence", "") or str(DEFAULT_RULE.confidence)
    if not re.fullmatch(LEVEL, written):
        raise Refusal("malformed", "confidence is a number from 0.5 to below 1, such as 0.9")
    results = analyse(revisions, request.args.get("cohort"), interval, wave, float(written))
    group = None if people is None else whole_group(revisions, results, people)
    note_read(name, revisions)
    return results, group


def _people_asked() -> int | None:
    """Parse the size of the group; None if it is missing or empty, Refusal if it is no positive whole number."""
    written = request.args.get("people", "")
    if not written:
        return None
    if not (written.isascii() and written.isdigit() and len(written) <= MOST_DIGITS and written[0] != "0"):
        raise Refusal("malformed", "people is a whole number from 1 on")
    return int(written)


def wave_of(text: str | None) -> int | None:
    """Parse the wave; None if missing, and -1, which no survey has, if it is not a number."""
    if not text:
        return None
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else -1


def published_questions() -> Response:
    """List the questions in the database."""
    found = current_app.extensions["storage"].link_questions.all()
    return jsonify({"questions": [_described(parse_link(canonical.load(each.document))) for each in found]})


def publish_question() -> Response:
    """Publish the question in the body; publishing it again changes nothing."""
    link = parse_link(_submitted("question"))
    current_app.extensions["storage"].link_questions.publish(link.digest, link.canonical, g.who)
    return jsonify(_described(link))


def withdraw_question(digest: str) -> Response:
    """Withdraw a question that this account published, or any for an admin."""
    if not _DIGEST.fullmatch(digest):
        raise Refusal("not_found")
    withdrawn = current_app.extensions["storage"].link_questions.withdraw(digest, g.who, g.actor.is_admin)
    return jsonify({"digest": digest, "withdrawn": withdrawn})


def _described(link: LinkQuestion) -> dict[str, str]:
    address = f"{current_app.extensions['settings'].url}/q/1/{link.digest}"
    return {"digest": link.digest, "address": address, "then": link.then}


_SURVEY = "/api/v1/surveys/<name>"
_CHOICES = (
    Query("cohort", "Only the respondents of this group."),
    Query("wave", "Only this wave, counted from 0; empty for all.", {"type": "string", "pattern": "^([0-9]{1,4})?$"}),
    Query("interval", "The method of the intervals.", {"enum": list(METHODS)}),
    Query("confidence", "Level of the intervals; 0.95 by default.", {"type": "string", "pattern": f"^({LEVEL})?$"}),
    Query(
        "people",
        "Size of a group in which everybody answered: shares are also shown as numbers of people; empty for a sample.",
        {"type": "string", "pattern": f"^([1-9][0-9]{{0,{MOST_DIGITS - 1}}})?$"},
    ),
)

_QUESTIONS = "/api/v1/questions"
_DIGEST = re.compile("[0-9a-f]{64}")

_OF_QUESTIONS = (
    Route("questions.published", "GET", _QUESTIONS, published_questions,
          "List the published questions that are asked by a link.", Kind.RESEARCHER, ("published-questions",)),
    Route("questions.publish", "POST", _QUESTIONS, publish_question,
          "Publish a question that is asked by a link; publishing the same question again changes nothing.",
          Kind.RESEARCHER, ("published-question",), body="link-question", refuses=("spec_invalid",)),
    Route("questions.withdraw", "DELETE", f"{_QUESTIONS}/<digest>", withdraw_question,
          "Withdraw such a question that this account published; admins withdraw any.",
          Kind.RESEARCHER, ("withdrawn-question",), refuses=("not_found",)),
)  # fmt: skip


def _of_survey(method: str, path: str, view: Callable[..., Any], summary: str, gives: str, **more: Any) -> Route:  # noqa: ANN401 - as Route takes them
    endpoint = f"results.{view.__name__}"
    return Route(endpoint, method, f"{_SURVEY}{path}", view, summary, Kind.RESEARCHER, (gives,), **more)


ROUTES = (
    Route("results.surveys", "GET", "/api/v1/surveys", surveys,
          "List revisions of surveys in pages, with the number of published reports.", Kind.RESEARCHER,
          ("survey-list",), query=PAGING, has_etag=True),
    _of_survey("POST", "/publish", publish,
               "Publish a survey or a revision; publishing the same bytes again changes nothing.", "published",
               body="survey-form",
               query=(Query("retire", "1 retires the earlier revisions.", {"enum": ["0", "1"]}),
                      Query("open", "1 opens a closed survey again, even if only texts change.", {"enum": ["0", "1"]})),
               refuses=("spec_invalid", "revision_conflict")),
    _of_survey("POST", "/close", close,
               "Close a survey: refuse further reports, and publish all counts at the first close.", "closed"),
    _of_survey("POST", "/reopen", reopen, "Reopen a survey, until its report ids are deleted and within its dates.",
               "closed", refuses=("closed",)),
    _of_survey("DELETE", "", delete, "Delete a survey and its data; only the log of its events remains.", "deleted"),
    _of_survey("GET", "/estimates", estimates, "Return estimates from the last snapshot.", "export", query=_CHOICES,
               refuses=("estimate_impossible",), has_etag=True),
    _of_survey("GET", "/export", export, "Download estimates from the last snapshot as a file.", "export",
               query=_CHOICES, refuses=("estimate_impossible",), has_etag=True),
    *_OF_QUESTIONS,
)  # fmt: skip
"""Routes of surveys and results."""
