"""
What is said of invitations that are held: after a backup was put back nobody knows which of them were redeemed since
it was made, so that nothing is signed for them until somebody who knows what that means has said so.
"""

from sottovoce.aggregator.clock import date_of
from sottovoce.aggregator.storage import Held, Storage

REISSUE = "sottovoce token reissue-after-restore"
"""The command that lets a survey's invitations be redeemed again."""


def held_lines(storage: Storage, options: str = "") -> list[str]:
    """
    A line for each open survey of which invitations are held: how many, why, and what to do.

    Args:
        storage: the database.
        options: that the command needs to find it.
    """
    return [
        f"{name}: {held_words(held)}. Nobody can redeem them until you say: {REISSUE} {name}{options}"
        for name, held in storage.held_invitations().items()
    ]


def held_words(held: Held) -> str:
    """How many, since when, and why."""
    are = "invitation is" if held.number == 1 else "invitations are"
    return (
        f"{held.number} {are} held since the restore of {date_of(held.since)}, for nobody knows which were redeemed"
        " after the backup was made"
    )


def reissue_words(held: Held) -> str:
    """What letting them be redeemed means, for whoever is about to."""
    return (
        f"{held_words(held)[0].upper()}{held_words(held)[1:]}.\n"
        f"Whoever did redeem one can do so a second time: up to {people(held.number)} may then report twice.\n"
        "What was taken back after the backup was made (token revoke) is forgotten too, and nobody knows what that was:"
        " such links are good again unless you take them back once more, best now: sottovoce token revoke NAME FILE"
    )


def people(number: int) -> str:
    """So many people."""
    return "1 person" if number == 1 else f"{number} persons"
