"""What somebody who watches the server could tell under ``access: blind``, where signatures tell nothing."""

from collections.abc import Sequence

from sottovoce.shared.spec import Survey


def is_paired(survey: Survey) -> bool:
    """
    Whether a watcher pairs invitation and report for certain, however many people take part: both come in one visit.

    All waves are redeemed at the first visit, so that of people who are asked again only the first report is paired.
    """
    in_one_visit = len(survey.waves) == 1 or survey.fresh_samples
    return survey.is_blind and not survey.send_within_hours and in_one_visit


def blind_limits(survey: Survey) -> Sequence[str]:
    """Names of the sentences, in the catalogues, that say so; none unless the survey is blind."""
    if not survey.is_blind:
        return ()
    # Without a wait the first wave's report is on the heels of the invitation, whatever comes later.
    return ("blind",) if survey.send_within_hours else ("blind_now", "blind")
