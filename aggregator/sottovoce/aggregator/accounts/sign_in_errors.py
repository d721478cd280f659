"""Errors of sign-in. Their messages are shown to people and never repeat what was sent."""

from sottovoce.shared.errors import SurveyError


class SignInRefused(SurveyError):
    """Sign-in failed; the message says why and what to do."""

    code = "unauthorized"


class ProviderUnavailable(SignInRefused):
    """The provider cannot be reached now; this says nothing about the person."""

    code = "busy"
