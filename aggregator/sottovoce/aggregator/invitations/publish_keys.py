"""Fill the public keys (moduli) into a survey with ``access: blind`` when it is published."""

from collections.abc import Sequence

from sottovoce.aggregator.invitations.key_file import KeysFile
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.surveys.lifecycle import survey_of
from sottovoce.shared.errors import Problem, SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.redemption import spell_modulus
from sottovoce.shared.spec import Survey

_NO_FILE = "this server has no file for the keys of blind links: its operator must name one (SOTTOVOCE_BLIND_KEYS_FILE)"


def with_moduli(storage: Storage, survey: Survey, settings: Settings) -> Survey:
    """Return the survey with the moduli of its waves; a survey without blind access is returned unchanged.

    A correction keeps the keys of the previous revision; only new waves get new keys.

    Raises:
        SpecError: no key file is configured, or the survey lists the keys of another survey.
        StorageError: keys cannot be made, or published or listed keys are missing in the file.
    """
    if not survey.is_blind:
        return survey
    keys, published = _checked(storage, survey, settings)
    if survey.moduli:
        if not published and not keys.holds(survey.name):
            raise SpecError([Problem("/access", "lists the keys of another survey; write blind")])
        keys.of(survey.name, survey.moduli)
        return survey
    return _with_keys(survey, keys.make(survey.name, len(survey.waves), settings.blind_key_bits, published))


def with_known_moduli(storage: Storage, survey: Survey, settings: Settings) -> Survey:
    """Return the survey with the moduli of the previous revision, if they cover all waves; never make keys.

    Raises SpecError if no key file is configured, StorageError if it is unusable or lacks published keys.
    """
    if not survey.is_blind:
        return survey
    _, published = _checked(storage, survey, settings)
    return survey if survey.moduli or len(published) < len(survey.waves) else _with_keys(survey, published)


def _with_keys(survey: Survey, moduli: Sequence[int]) -> Survey:
    spelled = [spell_modulus(modulus) for modulus in moduli[: len(survey.waves)]]
    return parse_survey({**survey.document, "access": {"blind": spelled}})


def _checked(storage: Storage, survey: Survey, settings: Settings) -> tuple[KeysFile, tuple[int, ...]]:
    """Return the key file and the moduli of the newest revision, after checking that the file has their keys."""
    if not settings.blind_keys_file:
        raise SpecError([Problem("/access", _NO_FILE)])
    keys, revisions = KeysFile(settings.blind_keys_file), storage.revisions(survey.name)
    published = survey_of(revisions[-1].document).moduli if revisions else ()
    keys.check(survey.name, published)
    return keys, published
