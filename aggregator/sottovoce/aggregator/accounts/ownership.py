"""Make the publisher of a new survey its owner."""

from collections.abc import Iterator
from contextlib import contextmanager

from sottovoce.aggregator.accounts.authentication import Actor
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.surveys.lifecycle import unknown_survey


@contextmanager
def claim_name(storage: Storage, actor: Actor, survey: str) -> Iterator[None]:
    """Claim a survey name while the caller publishes inside the context.

    The publisher becomes owner before the survey exists, so that no other account can publish under the name. The claim
    is undone if publishing fails. Raises ReportRejected if another account claimed the name first.
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
