"""The survey that a report was drawn for, as this device kept it: known without the network, whatever came after it."""

from dataclasses import replace

from sottovoce.client.ledger import Ledger
from sottovoce.client.link import Link
from sottovoce.client.revisions import survey_for
from sottovoce.client.transport import Transport
from sottovoce.shared.errors import SpecError, SurveyError
from sottovoce.shared.parse_survey import load_survey
from sottovoce.shared.spec import Survey


def cached_survey(ledger: Ledger, digest: str) -> Survey | None:
    """The survey with this digest; None if it was not kept, or needs a newer release than this one."""
    text = ledger.text(digest)
    try:
        # The folder can be written by other programs, so the text is parsed and its digest compared again.
        survey = None if text is None else load_survey(text)
    except SpecError:
        return None
    return survey if survey is not None and survey.digest == digest else None


def cached_or_fetched_survey(ledger: Ledger, digest: str, transport: Transport, link: Link) -> Survey | None:
    """
    The same; where an earlier release kept none, the aggregator is asked, and what it sends is kept from now on.

    Args:
        ledger: where to look, and to keep it.
        digest: the survey's.
        transport: to the aggregator.
        link: any of the survey.

    Returns:
        None if it cannot be had.
    """
    cached = cached_survey(ledger, digest)
    if cached is not None:
        return cached
    try:
        # The request names only the survey: the digest would tell the server which revision this device answered.
        survey = survey_for(transport, replace(link, digest=digest[:32]))
    except SurveyError:
        return None
    if survey.digest != digest:
        return None
    ledger.keep(digest, survey.canonical)
    return survey
