"""A try-out: a survey of its own, so that the name of the real one stays free, and nothing of the two is ever mixed."""

import re
from collections.abc import Collection, Mapping
from datetime import date, timedelta
from itertools import pairwise

from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

_MARK = "-trial-"
_LONGEST = 50
"""Letters of the survey's name that a try-out's begins with: with mark and number it is as long as a name may be."""

_WEEK = timedelta(weeks=1)


def trial_of(survey: Survey, name: str, today: date) -> Survey:
    """
    The survey as a few people try it: at once, by one link, and its first report is shown.

    Args:
        survey: as it would be published; that of a draft, or a revision.
        name: of the try-out.
        today: when it begins; of a survey in waves each takes a week.
    """
    document = {key: value for key, value in survey.document.items() if key not in ("replaces", "opens", "closes")}
    if "waves" in document:
        document |= _waves(survey, today)
    # Its first report is shown at once, so that no device waits.
    kept = {key: value for key, value in survey.document["privacy"].items() if key != "send_within_hours"}
    privacy = {**kept, "release_batch": 1}
    own = {"name": name, "revision": 1, "trial": True, "access": "open", "privacy": privacy}
    return parse_survey({**document, **own})


def _waves(survey: Survey, today: date) -> Mapping[str, object]:
    """One after the other from today on; the day of deletion goes, which may be before they are over."""
    days = [today + number * _WEEK for number in range(len(survey.waves) + 1)]
    moments = [f"{day}T00:00:00Z" for day in days]
    kept = {key: value for key, value in survey.document["retention"].items() if key != "delete_on"}
    waves = [{"opens": opens, "closes": closes} for opens, closes in pairwise(moments)]
    return {"waves": waves, "retention": kept}


def trial_name(survey: str, taken: Collection[str]) -> str:
    """
    The name of a survey's next try-out.

    Args:
        survey: its name.
        taken: names that are given, or were.
    """
    names = (f"{survey[:_LONGEST]}{_MARK}{number}" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def is_trial_name_of(survey: str, name: str) -> bool:
    """
    Whether a survey's try-out could have this name.

    Args:
        survey: the survey's name.
        name: any.
    """
    return re.fullmatch(re.escape(survey[:_LONGEST] + _MARK) + "[0-9]+", name, re.ASCII) is not None
