"""The revision of a survey that a link names."""

from sottovoce.client.link import Link
from sottovoce.client.transport import Transport
from sottovoce.shared.errors import TransportError
from sottovoce.shared.parse_survey import load_survey
from sottovoce.shared.spec import Survey


def survey_for(transport: Transport, link: Link) -> Survey:
    """
    The survey that a link names.

    Raises:
        TransportError: the aggregator cannot be reached, or sends another one.
        SpecError: what it sends is no survey.
    """
    survey = load_survey(transport.fetch_survey(link.survey))
    if survey.name != link.survey or not survey.digest.startswith(link.digest):
        raise TransportError("the aggregator sent another survey than the one your link names; nothing was sent")
    return survey
