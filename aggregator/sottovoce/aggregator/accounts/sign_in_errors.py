"""Errors of sign-in. Their messages are shown to people and never repeat what was sent."""

from sottovoce.shared.errors import SurveyError


class SignInRefused(SurveyError):
    """A failed sign-in; the message says why and what to do."""

    code = "unauthorized"


class ProviderUnavailable(SignInRefused):
    """A failure to reach the provider now; this says nothing about the person."""

    code = "busy"
