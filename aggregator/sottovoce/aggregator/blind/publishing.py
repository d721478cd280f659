"""What publishing writes into a survey that says ``access: blind``."""

from sottovoce.aggregator.blind.keys_file import KeysFile
from sottovoce.aggregator.settings import Settings
from sottovoce.shared.errors import Problem, SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.redemption import spell_modulus
from sottovoce.shared.spec import Survey

_NO_FILE = "this server has no file for the keys of blind links: whoever runs it names one (SOTTOVOCE_BLIND_KEYS_FILE)"


def with_moduli(survey: Survey, settings: Settings) -> Survey:
    """
    The survey with the moduli of its waves' keys; any other survey as it is.

    Args:
        survey: as its author wrote it, or as it was published once.
        settings: name the file of keys, and how long new ones are.

    Raises:
        SpecError: this server has no place for keys.
        StorageError: the keys cannot be made, or those of the moduli that it lists are not here.
    """
    if not survey.is_blind:
        return survey
    if not settings.blind_keys_file:
        raise SpecError([Problem("/access", _NO_FILE)])
    keys = KeysFile(settings.blind_keys_file)
    if survey.moduli:
        keys.of(survey.name, survey.moduli)
        return survey
    moduli = keys.make(survey.name, len(survey.waves), settings.blind_key_bits)
    return parse_survey({**survey.document, "access": {"blind": [spell_modulus(modulus) for modulus in moduli]}})
