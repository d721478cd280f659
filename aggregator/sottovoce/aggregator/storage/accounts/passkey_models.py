"""Data of passkeys (WebAuthn credentials) that storage exchanges with its callers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Passkey:
    """Public part of a passkey; its private key never leaves the device.

    Attributes:
        credential_id: id that the device chose.
        public_key: COSE key.
        sign_count: signature counter of the device; always 0 if the device does not count.
        label: name that its owner chose.
        added_on: day, counted from 1970-01-01.
    """

    credential_id: bytes
    account: bytes
    public_key: bytes
    sign_count: int
    label: str
    added_on: int


@dataclass(frozen=True)
class PasskeyUse:
    """Verified assertion of a passkey, for one sign-in.

    Attributes:
        sign_count: signature counter in the assertion.
        challenge_hash: hash of the answered challenge, which cannot be used again.
        expires: time after which the challenge is invalid anyway, in seconds since 1970.
    """

    credential_id: bytes
    sign_count: int
    challenge_hash: bytes
    expires: int
