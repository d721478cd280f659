"""Write messages about invitations on hold after a restore.

A restored database does not know which invitations were redeemed after the backup. The server therefore signs nothing
for them until an operator accepts that some people may report twice.
"""

from sottovoce.aggregator.clock import date_of
from sottovoce.aggregator.storage import Held, Storage

REISSUE = "sottovoce link reissue"
"""Command that releases the invitations of a survey."""


def held_lines(storage: Storage, options: str = "") -> list[str]:
    """Write a line for each open survey with invitations on hold: how many, why, and what to do.

    ``options`` let the command find the database, with a leading space.
    """
    return [
        f"{name}: {held_words(held)}. They cannot be redeemed until you run: {REISSUE} {name}{options}"
        for name, held in storage.held_invitations().items()
    ]


def held_words(held: Held) -> str:
    """Describe how many invitations are on hold, since when and why."""
    are = "invitation is" if held.number == 1 else "invitations are"
    return (
        f"{held.number} {are} on hold since the restore of {date_of(held.since)}, because the backup does not show"
        " which were redeemed after it was made"
    )


def reissue_words(held: Held) -> str:
    """Write the warning before releasing them: people may report twice, and revocations may be lost."""
    return (
        f"{held_words(held)[0].upper()}{held_words(held)[1:]}.\n"
        f"People who redeemed one can redeem it a second time: up to {people(held.number)} may then report twice.\n"
        "Revocations made after the backup (link revoke) are lost too: such links are valid again. Revoke them again,"
        " best now: sottovoce link revoke NAME FILE"
    )


def people(number: int) -> str:
    """Write a number of people with its noun."""
    return "1 person" if number == 1 else f"{number} people"
