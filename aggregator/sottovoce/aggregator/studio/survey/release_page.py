"""Publish tables of public answers with noise, under a privacy budget, by forms of the page "Files"."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from flask import current_app, g, redirect, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.analysis.published_counts import published
from sottovoce.aggregator.curator.budget import spent
from sottovoce.aggregator.curator.data.data_set import DataSet
from sottovoce.aggregator.curator.data.released_tables import release, useless_tables
from sottovoce.aggregator.curator.data.survey_source import declared_at_opening, survey_data_set
from sottovoce.aggregator.curator.ledger.ledger_format import parse_ledger
from sottovoce.aggregator.curator.parse_epsilon import parse_epsilon
from sottovoce.aggregator.curator.release import Neighbours
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.storage.audit_log.events import EXPORTED
from sottovoce.aggregator.surveys.lifecycle import newest
from sottovoce.shared.errors import BudgetExhausted, EstimateError, SpecError, StorageError

OUTCOMES = ("published", "opened", "not_agreed", "no_number", "not_left", "useless", "unusable")
"""Outcomes of the last step that the page has a message for."""


@dataclass(frozen=True)
class ReleaseState:
    """Privacy budget of a survey's public answers.

    Attributes:
        questions: names of the public questions, as declared when the budget was opened.
        exact: names of the public questions that are never published with noise.
        whole: total epsilon of the budget; None if it was not opened.
        left: remaining epsilon; None if it was not opened.
        may: True if the reader may publish.
        outcome: outcome of the last step, one of ``TOLD``; "" for none.
    """

    questions: tuple[str, ...]
    exact: tuple[str, ...]
    whole: float | None
    left: float | None
    may: bool
    outcome: str


class UselessTables(Exception):
    """Error raised if the noise of a table may exceed all of it, and the form does not ask for it all the same."""


def release_state(name: str) -> ReleaseState | None:
    """Load the budget state of a closed survey; None if it has no public question or is a test run.

    Raises StorageError if the ledger was tampered with.
    """
    revisions = published(storage(), name)
    lines = b"".join(storage().releases.lines(name)) or None
    ordered, declared = declared_at_opening(revisions, lines)
    if ordered[-1].survey.trial or not (declared.columns or declared.exact):
        return None
    ledger = None if lines is None else parse_ledger(lines)
    outcome = request.args.get("outcome", "")
    return ReleaseState(
        tuple(declared.columns),
        declared.exact,
        None if ledger is None else float(ledger.terms.epsilon),
        None if ledger is None else float(ledger.terms.epsilon - spent(ledger).epsilon),
        g.actor.role(name) == "owner",
        outcome if outcome in OUTCOMES else "",
    )


def open_budget(name: str) -> ResponseReturnValue:
    """Open the budget, which cannot be undone, if the form names an epsilon and confirms the consequences."""
    newest(storage(), name)
    if request.form.get("agreed") != "yes":
        return _redirect_back(name, "not_agreed")
    return _redirect_back(
        name, _try_action(name, lambda data, epsilon: data.bind(epsilon, None, Neighbours.REPLACE), "opened")
    )


def publish(name: str) -> ResponseReturnValue:
    """Publish noisy tables: one for each public question, or a joint table of the questions in the form."""
    newest(storage(), name)
    columns = [*dict.fromkeys(filter(None, (request.form.get("rows"), request.form.get("columns"))))]

    def draw(data: DataSet, epsilon: Fraction) -> None:
        if request.form.get("useless") != "yes" and useless_tables(data, epsilon, columns):
            raise UselessTables
        # Log first: no release without an entry in the audit log.
        storage().journal.append(EXPORTED, g.who, f"{name} public-tables.json")
        release(data, epsilon, columns)

    return _redirect_back(name, _try_action(name, draw, "published"))


def _try_action(name: str, act: Callable[[DataSet, Fraction], object], done: str) -> str:
    """Run the action with the epsilon of the form; return ``done`` or the outcome that explains the failure."""
    settings, now = current_app.extensions["settings"], current_app.extensions["clock"]()
    try:
        epsilon = parse_epsilon(request.form.get("epsilon", "").strip().replace(",", "."))
    except SpecError:
        return "no_number"
    try:
        with current_app.extensions["joint_results"].turn(name):
            act(survey_data_set(storage(), name, now, settings.data, settings.ledger_anchor_dir, g.who), epsilon)
    except BudgetExhausted:
        return "not_left"
    except UselessTables:
        return "useless"
    except (EstimateError, SpecError, StorageError):
        return "unusable"
    return done


def _redirect_back(name: str, outcome: str) -> ResponseReturnValue:
    return redirect(url_for("studio.files", name=name, outcome=outcome), 303)


_PATH = "/dashboard/surveys/<name>/files"

ROUTES = (
    Route("studio.open_budget", "POST", f"{_PATH}/budget", open_budget,
          "Open the budget of a closed survey's public answers."),
    Route("studio.release", "POST", f"{_PATH}/release", publish, "Publish public answers with noise."),
)  # fmt: skip
"""Routes that open a budget and publish public answers."""
