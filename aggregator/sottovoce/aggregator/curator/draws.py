"""The system's randomness for releases; the one file of the curator that touches it."""

import secrets

from sottovoce.shared.exact_noise import ExactNoise


def system_draws() -> ExactNoise:
    """Exact noise from the operating system's source."""
    return ExactNoise(secrets.token_bytes)
