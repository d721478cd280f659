"""What people can be invited to: each wave of a survey's newest revision, with its link."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.surveys.stored_surveys import survey_of, wave_state
from sottovoce.shared.spec import Wave


@dataclass(frozen=True)
class InvitedWave:
    """
    One wave of a survey.

    Attributes:
        number: from 0 on.
        wave: when it is asked.
        link: for everybody, to the newest revision.
        state: ``early``, ``open`` or ``closed``.
    """

    number: int
    wave: Wave
    link: str
    state: str


def invited_waves(stored: StoredSurvey, settings: Settings, now: datetime) -> Sequence[InvitedWave]:
    """
    Every wave, in order; all are closed once the survey is.

    Args:
        stored: the newest revision.
        settings: they know the aggregator's address.
        now: the present moment.
    """
    return [
        InvitedWave(
            number,
            wave,
            settings.link(stored.name, stored.digest, number),
            "closed" if stored.closed else wave_state(wave, now),
        )
        for number, wave in enumerate(survey_of(stored.document).waves)
    ]


def first_to_ask(waves: Sequence[InvitedWave]) -> int:
    """The wave that people are invited to unless somebody names another: the first that is not over, else the last."""
    return next((wave.number for wave in waves if wave.state != "closed"), waves[-1].number)
