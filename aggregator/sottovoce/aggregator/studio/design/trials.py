"""Publish test runs of a survey, and list them with their links."""

from collections.abc import Sequence
from typing import NamedTuple

from flask import current_app, g, redirect, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.accounts.ownership import claim_name
from sottovoce.aggregator.authoring.trial import is_trial_name_of, trial_name, trial_of
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.i18n.translator import only_here
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.studio import drafts
from sottovoce.aggregator.studio.request_context import words
from sottovoce.aggregator.surveys.lifecycle import reports_so_far, survey_of
from sottovoce.aggregator.surveys.privacy_limit import check_affordable
from sottovoce.shared.errors import SpecError


class Trial(NamedTuple):
    """Test run: a survey of its own, with its link for respondents and the reader's role on it.

    ``only_here`` warns that the link works on this computer or its network only; "" for a public link.
    """

    name: str
    link: str
    reports: int
    closed: bool
    role: str
    only_here: str


def trials_of(name: str) -> Sequence[Trial]:
    """List the test runs of a survey or draft on which the reader has a role, newest first."""
    trials = [
        trial_in(row)
        for row in storage().surveys()
        if is_trial_name_of(name, row.name) and survey_of(row.document).trial and g.actor.role(row.name)
    ]
    return sorted(trials, key=lambda trial: -int(trial.name.rpartition("-")[2]))


def trial_in(row: StoredSurvey) -> Trial:
    """Build the description of a stored test run."""
    link = current_app.extensions["settings"].link(row.name, row.digest)
    return Trial(row.name, link, reports_so_far(row), row.closed, g.actor.role(row.name), only_here(link, words()))


def try_out(name: str) -> ResponseReturnValue:
    """Publish the current state of the survey as a test run, under a name of its own, and redirect to its results.

    They show its link. An incomplete survey redirects to the preview, which lists the problems.
    """
    try:
        today = current_app.extensions["clock"]().date()
        survey = trial_of(drafts.current_survey(name), trial_name(name, drafts.taken_names()), today)
        check_affordable(survey)
    except SpecError:
        return redirect(url_for("studio.preview", name=name), 303)
    with claim_name(storage(), g.actor, survey.name):
        storage().publish(survey, who=g.who)
    # The survey's team has the same roles on the test run.
    access = storage().access
    for account, role in access.granted(name):
        if account.id != g.actor.account.id:
            access.by(g.who).grant(account.id, survey.name, role)
    return redirect(url_for("studio.results", name=survey.name), 303)


def address_of_tried(trial: str) -> str:
    """Return the URL of the preview of the tested survey, if it still exists; else of the survey list."""
    names = (*[draft.name for draft in storage().drafts.drafts()], *(row.name for row in storage().surveys()))
    found = [name for name in names if is_trial_name_of(name, trial) and g.actor.role(name)]
    return url_for("studio.preview", name=found[0], _anchor="trials") if found else url_for("studio.surveys")


ROUTES = (Route("studio.try_out", "POST", "/dashboard/surveys/<name>/preview/trial", try_out, "Start a test run."),)
"""Route that publishes a test run; ``studio.delete`` deletes it, like any survey."""
