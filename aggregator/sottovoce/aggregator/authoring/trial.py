"""Make the test run of a survey: a separate survey, so the real one's name stays free and reports are never mixed."""

import re
from collections.abc import Collection, Mapping
from datetime import date, timedelta
from itertools import pairwise

from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

_MARK = "-trial-"
_LONGEST = 50
"""Letters of the survey's name that a test run's name keeps: with mark and number it is still a valid name."""

_WEEK = timedelta(weeks=1)


def trial_of(survey: Survey, name: str, today: date) -> Survey:
    """Return the test run of a survey: open at once to anyone with the link, with every report visible at once.

    ``today`` is the first day; each wave of a survey with waves takes a week.
    """
    document = {key: value for key, value in survey.document.items() if key not in ("replaces", "opens", "closes")}
    if "waves" in document:
        document |= _waves(survey, today)
    # A test run has one open link and no invitations, so that clients need not delay sending.
    rest = {key: value for key, value in survey.document["privacy"].items() if not key.startswith("send_")}
    own = {"name": name, "revision": 1, "trial": True, "access": "open", "privacy": {**rest, "release_batch": 1}}
    return parse_survey({**document, **own})


def _waves(survey: Survey, today: date) -> Mapping[str, object]:
    """Return weekly waves from today on, without the day of deletion, which may be before their end."""
    days = [today + number * _WEEK for number in range(len(survey.waves) + 1)]
    moments = [f"{day}T00:00:00Z" for day in days]
    retention = {key: value for key, value in survey.document["retention"].items() if key != "delete_on"}
    waves = [{"opens": opens, "closes": closes} for opens, closes in pairwise(moments)]
    return {"waves": waves, "retention": retention}


def trial_name(survey: str, taken: Collection[str]) -> str:
    """Return the name of a survey's next test run, which is and was not ``taken``."""
    names = (f"{survey[:_LONGEST]}{_MARK}{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def is_trial_name_of(survey: str, name: str) -> bool:
    """Return whether a name is one that ``trial_name`` gives to a test run of this survey."""
    return re.fullmatch(re.escape(survey[:_LONGEST] + _MARK) + "[0-9]+", name, re.ASCII) is not None
