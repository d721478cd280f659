"""What publishing writes into a survey that says ``access: blind``."""

from collections.abc import Sequence

from sottovoce.aggregator.invitations.key_file import KeysFile
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.surveys.stored_surveys import survey_of
from sottovoce.shared.errors import Problem, SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.redemption import spell_modulus
from sottovoce.shared.spec import Survey

_NO_FILE = "this server has no file for the keys of blind links: its operator must name one (SOTTOVOCE_BLIND_KEYS_FILE)"


def with_moduli(storage: Storage, survey: Survey, settings: Settings) -> Survey:
    """
    The survey with the moduli of its waves' keys; any other survey as it is.

    A correction gets the keys of the revision before it, and new ones for new waves alone.

    Args:
        storage: what was published so far.
        survey: as its author wrote it, or as it was published once.
        settings: name the file of keys, and how long new ones are.

    Raises:
        SpecError: this server has no place for keys, or the survey lists those of another.
        StorageError: the keys cannot be made, or those that are published or that it lists are not here.
    """
    if not survey.is_blind:
        return survey
    keys, published = _checked(storage, survey, settings)
    if survey.moduli:
        if not published and not keys.holds(survey.name):
            raise SpecError([Problem("/access", "lists the keys of another survey; write blind")])
        keys.of(survey.name, survey.moduli)
        return survey
    return _signed(survey, keys.make(survey.name, len(survey.waves), settings.blind_key_bits, published))


def with_known_moduli(storage: Storage, survey: Survey, settings: Settings) -> Survey:
    """
    The survey with the moduli of the revision before it, if these are all that it needs; nothing is made.

    Args:
        storage: what was published so far.
        survey: as its author wrote it.
        settings: name the file of keys.

    Raises:
        SpecError: this server has no place for keys.
        StorageError: the file of keys cannot be used, or does not hold those that are published.
    """
    if not survey.is_blind:
        return survey
    _, published = _checked(storage, survey, settings)
    return survey if survey.moduli or len(published) < len(survey.waves) else _signed(survey, published)


def _signed(survey: Survey, moduli: Sequence[int]) -> Survey:
    spelled = [spell_modulus(modulus) for modulus in moduli[: len(survey.waves)]]
    return parse_survey({**survey.document, "access": {"blind": spelled}})


def _checked(storage: Storage, survey: Survey, settings: Settings) -> tuple[KeysFile, tuple[int, ...]]:
    """The file of keys, and the moduli of the newest revision, which are in it."""
    if not settings.blind_keys_file:
        raise SpecError([Problem("/access", _NO_FILE)])
    keys, revisions = KeysFile(settings.blind_keys_file), storage.revisions(survey.name)
    published = survey_of(revisions[-1].document).moduli if revisions else ()
    keys.check(survey.name, published)
    return keys, published
