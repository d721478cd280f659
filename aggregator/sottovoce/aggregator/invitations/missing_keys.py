"""Whether the keys of open surveys are here: where they are not, every invitation is refused, and all else goes on."""

from sottovoce.aggregator.invitations.key_file import KeysFile
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.surveys.stored_surveys import survey_of
from sottovoce.shared.errors import StorageError


def missing_keys(storage: Storage, keys: KeysFile) -> dict[str, str]:
    """
    Why nobody can redeem an invitation here, by the names of the open surveys of which that is so.

    Args:
        storage: the database.
        keys: those of this node.
    """
    newest = {stored.name: stored for stored in storage.surveys()}
    found = {}
    for name, stored in newest.items():
        survey = survey_of(stored.document)
        if survey.is_blind and not stored.closed:
            try:
                keys.of(name, survey.moduli)
            except StorageError as error:
                found[name] = str(error)
    return found
