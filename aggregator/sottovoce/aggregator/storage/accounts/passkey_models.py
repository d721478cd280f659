"""The words of passkeys that storage shares with its callers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Passkey:
    """
    What is kept of a passkey; of its secret, which never leaves the device, nothing.

    Attributes:
        credential_id: the device's name for it.
        account: whom it lets in.
        public_key: in the form of COSE.
        sign_count: how often the device says that it was used; always 0, if it does not count.
        label: what its owner calls it.
        added_on: the day, counted from 1970-01-01.
    """

    credential_id: bytes
    account: bytes
    public_key: bytes
    sign_count: int
    label: str
    added_on: int


@dataclass(frozen=True)
class PasskeyUse:
    """
    One sign-in by a passkey, verified.

    Attributes:
        credential_id: of the passkey.
        sign_count: as the device now says.
        challenge_hash: of the challenge that was answered, which lets nobody in again.
        expires: seconds since 1970 after which the challenge is not good anyway.
    """

    credential_id: bytes
    sign_count: int
    challenge_hash: bytes
    expires: int
