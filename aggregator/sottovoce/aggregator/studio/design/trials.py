"""Try-outs of a survey: published by one button, shown with their links, deleted by another."""

from collections.abc import Sequence
from typing import NamedTuple

from flask import current_app, g, redirect, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.accounts.ownership import owned
from sottovoce.aggregator.authoring.trial import is_trial_name_of, trial_name, trial_of
from sottovoce.aggregator.http.routing import Kind, Route
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.studio import drafts
from sottovoce.aggregator.studio.request_context import storage
from sottovoce.aggregator.surveys.privacy_limit import check_affordable
from sottovoce.aggregator.surveys.stored_surveys import reports_so_far, survey_of
from sottovoce.shared.errors import SpecError


class Trial(NamedTuple):
    """
    One try-out.

    Attributes:
        name: its own.
        link: for everybody.
        reports: so far.
        closed: nobody can answer any more.
        role: of the reader.
    """

    name: str
    link: str
    reports: int
    closed: bool
    role: str


def trials_of(name: str) -> Sequence[Trial]:
    """The try-outs of a survey or draft that the reader may know of, the newest first."""
    trials = [
        trial_in(row)
        for row in storage().surveys()
        if is_trial_name_of(name, row.name) and survey_of(row.document).trial and g.actor.role(row.name)
    ]
    return sorted(trials, key=lambda trial: -int(trial.name.rpartition("-")[2]))


def trial_in(row: StoredSurvey) -> Trial:
    """What is told of a try-out that is stored so."""
    link = current_app.extensions["settings"].link(row.name, row.digest)
    return Trial(row.name, link, reports_so_far(row), row.closed, g.actor.role(row.name))


def try_out(name: str) -> ResponseReturnValue:
    """
    Publish the survey as it stands under a name of its own.

    Leads to the try-out's results, which show its link and then its first report; where the survey lacks something, to
    the page that tells what.
    """
    try:
        today = current_app.extensions["clock"]().date()
        survey = trial_of(drafts.survey_as_it_stands(name), trial_name(name, drafts.taken_names()), today)
        check_affordable(survey)
    except SpecError:
        return redirect(url_for("studio.preview", name=name), 303)
    with owned(storage(), g.actor, survey.name):
        storage().publish(survey, who=g.who)
    _share(name, survey.name)
    return redirect(url_for("studio.results", name=survey.name), 303)


def _share(name: str, trial: str) -> None:
    """Give the team of what is tried the same roles on the try-out."""
    access = storage().access
    for account, role in access.granted(name):
        if account.id != g.actor.account.id:
            access.by(g.who).grant(account.id, trial, role)


def address_of_tried(trial: str) -> str:
    """Where what a try-out tries is looked at, if it is there still; else the list of surveys."""
    drafted = [draft.name for draft in storage().drafts.drafts()]
    names = (*drafted, *(row.name for row in storage().surveys()))
    found = [name for name in names if is_trial_name_of(name, trial) and g.actor.role(name)]
    return url_for("studio.preview", name=found[0], _anchor="trials") if found else url_for("studio.surveys")


ROUTES = (
    Route(
        "studio.try_out",
        "POST",
        "/dashboard/surveys/<name>/preview/trial",
        try_out,
        "Publish a try-out.",
        Kind.PAGE,
        ("text/html",),
    ),
)
"""The one button; deleting is that of every survey, ``studio.delete``."""
