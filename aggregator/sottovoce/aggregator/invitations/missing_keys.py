"""Find open surveys whose blind-signature keys this node lacks; it refuses their invitations but serves all else."""

from sottovoce.aggregator.invitations.key_file import KeysFile
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.surveys.lifecycle import survey_of
from sottovoce.shared.errors import StorageError


def missing_keys(storage: Storage, keys: KeysFile) -> dict[str, str]:
    """Map the names of open surveys without usable keys to the reason."""
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
