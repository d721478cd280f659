"""Who publishes a survey of a new name owns it."""

from collections.abc import Iterator
from contextlib import contextmanager

from sottovoce.aggregator.accounts.principal import Actor
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.surveys.stored_surveys import unknown_survey


@contextmanager
def owned(storage: Storage, actor: Actor, survey: str) -> Iterator[None]:
    """
    Publish within: the survey is the publisher's from before it is there, so that nobody else publishes it meanwhile.

    Args:
        storage: an open database.
        actor: the publisher.
        survey: the survey's name.

    Raises:
        ReportRejected: somebody else was faster.
    """
    if actor.role(survey) == "owner":
        yield
        return
    tables = storage.access.by(actor.account.id.hex())
    if not tables.claim(actor.account.id, survey):
        raise unknown_survey()
    try:
        yield
    except BaseException:
        tables.unclaim(actor.account.id, survey)
        raise
