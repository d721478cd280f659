"""Why somebody is not let in, in sentences for people; none repeats what was sent."""

from sottovoce.shared.errors import SurveyError


class SignInRefused(SurveyError):
    """Nobody is let in by this; the message says why and what to do."""

    code = "unauthorized"


class ProviderUnavailable(SignInRefused):
    """The institution's sign-in cannot be asked now, which says nothing about who wanted in."""

    code = "busy"
