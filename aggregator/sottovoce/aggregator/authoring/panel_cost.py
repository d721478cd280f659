"""What a draft costs somebody who answers in every wave."""

from typing import NamedTuple

from sottovoce.aggregator.authoring.draft import SurveyDraft
from sottovoce.aggregator.authoring.validation import survey_of_draft
from sottovoce.shared.accounting import waves_epsilon
from sottovoce.shared.errors import SpecError


class Panel(NamedTuple):
    """
    All waves together.

    Attributes:
        waves: how many there are.
        epsilon: of all of one person's reports.
    """

    waves: int
    epsilon: float


def panel_of(draft: SurveyDraft, name: str) -> Panel | None:
    """The panel that a draft is; None if it is asked once, costs nothing, or is no survey yet."""
    if len(draft.waves) < 2:
        return None
    try:
        survey = survey_of_draft(draft, name)
    except SpecError:
        return None
    waves = len(survey.waves)
    epsilon = survey.epsilon_of_memo + waves_epsilon(survey.epsilon_of_wave, waves) if survey.private else 0.0
    return Panel(waves, epsilon) if epsilon else None
