"""Draw system randomness for releases. No other file of the curator uses it."""

import secrets

from sottovoce.shared.exact_noise import ExactNoise


def system_draws() -> ExactNoise:
    """Return exact noise drawn from the operating system's random source."""
    return ExactNoise(secrets.token_bytes)
