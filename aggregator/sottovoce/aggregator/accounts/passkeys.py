"""
Passkeys: what a browser is asked, and what its answer must be. The library verifies; here is what it is to expect.

A passkey is kept by the person's device, which asks for its fingerprint, face or PIN: user verification is required, so
that a passkey is two factors. Attestation is not asked for: which make of device somebody has is nobody's business.

A challenge is a moment and random bytes with a code of this aggregator's own over both, so that no node has to remember
those that it gave, and nobody can make one for later; what a database remembers is those that were used.

Source: Web Authentication Level 3, sections 7.1 and 7.2.
"""

import hmac
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from sottovoce.aggregator.accounts.sign_in_errors import SignInRefused
from sottovoce.aggregator.storage.accounts.passkey_models import Passkey
from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import base64url_to_bytes, parse_client_data_json
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

CHALLENGE_SECONDS = 300
"""How long a person may take from opening a page to touching the key."""

MOST_BYTES = 16_384
"""Of an answer; with keys of today it is about 1,000."""

RANDOM_BYTES = 24
_MOMENT_BYTES = 8
_CODE_BYTES = 32

UNKNOWN = "This passkey is unknown here, or its account is disabled. Sign in in another way, or ask an admin."
LATE = "This took too long, or the page was used before. Open the sign-in page again."
NOT_TRUE = "You are not signed in, because the passkey could not be verified. Open the page again."
NOT_ADDED = "The passkey could not be verified, so it was not added. Open the page again."


@dataclass(frozen=True)
class Site:
    """
    For whom passkeys are made: a browser gives them to pages of no other origin.

    Attributes:
        origin: such as ``https://surveys.example``.
        host: the origin's host, without a port.
    """

    origin: str
    host: str


@dataclass(frozen=True)
class Answer:
    """
    What a browser brings, of which nothing is verified yet.

    Attributes:
        credential_id: the passkey's name.
        challenge: that it says it answers.
        text: the whole, JSON.
    """

    credential_id: bytes
    challenge: bytes
    text: str


class NewPasskey(NamedTuple):
    """What a device says of a passkey that it has just made."""

    credential_id: bytes
    public_key: bytes
    sign_count: int


def site_of(url: str) -> Site:
    """The site at the address that people are given."""
    parts = urlsplit(url)
    return Site(f"{parts.scheme}://{parts.netloc}", parts.hostname or "")


def new_challenge_key() -> bytes:
    """A secret by which an aggregator knows the challenges that it gave."""
    return secrets.token_bytes(_CODE_BYTES)


def new_challenge(key: bytes, now: int) -> bytes:
    """A challenge that is good for ``CHALLENGE_SECONDS`` from now, in seconds since 1970."""
    told = now.to_bytes(_MOMENT_BYTES) + secrets.token_bytes(RANDOM_BYTES)
    return told + hmac.digest(key, told, "sha256")


def check_challenge(key: bytes, challenge: bytes, now: int) -> None:
    """
    Refuse a challenge that was not given by this aggregator, or too long ago.

    Args:
        key: this aggregator's own.
        challenge: as it comes back.
        now: seconds since 1970.

    Raises:
        SignInRefused: it is not good.
    """
    told, code = challenge[:-_CODE_BYTES], challenge[-_CODE_BYTES:]
    given = int.from_bytes(told[:_MOMENT_BYTES])
    if not hmac.compare_digest(code, hmac.digest(key, told, "sha256")) or not 0 <= now - given <= CHALLENGE_SECONDS:
        raise SignInRefused(LATE)


def question_for_sign_in(site: Site, challenge: bytes) -> str:
    """What ``navigator.credentials.get`` is asked, as JSON: any passkey of this site, the person verified."""
    return options_to_json(
        generate_authentication_options(
            rp_id=site.host,
            challenge=challenge,
            timeout=CHALLENGE_SECONDS * 1000,
            user_verification=UserVerificationRequirement.REQUIRED,
        )
    )


def question_for_registration(site: Site, challenge: bytes, account: bytes, name: str, known: Sequence[bytes]) -> str:
    """
    What ``navigator.credentials.create`` is asked, as JSON.

    Args:
        site: that the passkey is for.
        challenge: a new one.
        account: its identifier, which the device keeps beside the key.
        name: of the account, which the device shows.
        known: names of the passkeys that the account has: a device that keeps one makes no second.
    """
    return options_to_json(
        generate_registration_options(
            rp_id=site.host,
            rp_name="Sottovoce",
            user_name=name,
            user_id=account,
            challenge=challenge,
            timeout=CHALLENGE_SECONDS * 1000,
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED,
                user_verification=UserVerificationRequirement.REQUIRED,
            ),
            exclude_credentials=[PublicKeyCredentialDescriptor(id=credential_id) for credential_id in known],
        )
    )


def parse_answer(text: str) -> Answer:
    """
    What a browser brings, to sign in or of a passkey that was just made.

    Raises:
        SignInRefused: it is no such thing.
    """
    try:
        if len(text) > MOST_BYTES:
            raise SignInRefused(NOT_TRUE)
        given = json.loads(text)
        challenge = parse_client_data_json(base64url_to_bytes(given["response"]["clientDataJSON"])).challenge
        return Answer(base64url_to_bytes(given["rawId"]), challenge, text)
    except Exception:  # whatever a parser makes of foreign bytes, they are no answer
        raise SignInRefused(NOT_TRUE) from None


def verify_sign_in(site: Site, passkey: Passkey, answer: Answer) -> int:
    """
    How often the passkey says that it was used, if its device signed this answer for this site.

    Args:
        site: that the answer must be for.
        passkey: with the answer's name.
        answer: whose challenge was checked.

    Raises:
        SignInRefused: it was not signed by this passkey for this site, or it counts as if the passkey was copied.
    """
    try:
        verified = verify_authentication_response(
            credential=answer.text,
            expected_challenge=answer.challenge,
            expected_rp_id=site.host,
            expected_origin=site.origin,
            credential_public_key=passkey.public_key,
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=True,
        )
        holder = json.loads(answer.text)["response"].get("userHandle")
        if holder is not None and base64url_to_bytes(holder) != passkey.account:
            raise SignInRefused(NOT_TRUE)
    except Exception:  # as above; nobody is let in by what a library could not read
        raise SignInRefused(NOT_TRUE) from None
    return verified.new_sign_count


def verify_registration(site: Site, answer: Answer) -> NewPasskey:
    """
    The passkey that a device has just made.

    Args:
        site: that it must be for.
        answer: whose challenge was checked.

    Raises:
        SignInRefused: it was not made for this site.
    """
    try:
        verified = verify_registration_response(
            credential=answer.text,
            expected_challenge=answer.challenge,
            expected_rp_id=site.host,
            expected_origin=site.origin,
            require_user_verification=True,
        )
    except Exception:  # as above
        raise SignInRefused(NOT_ADDED) from None
    return NewPasskey(verified.credential_id, verified.credential_public_key, verified.sign_count)
