"""Passkeys (WebAuthn): options for the browser, and verification of its answers by the library ``webauthn``.

User verification (fingerprint, face or PIN) is required, so that a passkey counts as two factors. Attestation is not
requested: the server does not need to know the make of a device.

A challenge consists of the time, random bytes, and an HMAC over both with the aggregator's own key. Nodes therefore
need not store issued challenges, and no other party can make one. The database stores used challenges, against replay.

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
from sottovoce.aggregator.storage.accounts.passkeys import Passkey
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
"""Validity of a challenge, from opening the page to using the passkey."""

MOST_BYTES = 16_384
"""Maximum size of an answer; typical answers have about 1,000 bytes."""

RANDOM_BYTES = 24
_MOMENT_BYTES = 8
_CODE_BYTES = 32

UNKNOWN = "This passkey is unknown here, or its account is disabled. Sign in in another way, or ask an admin."
LATE = "This took too long, or the page was used before. Open the sign-in page again."
NOT_TRUE = "You are not signed in, because the passkey could not be verified. Open the page again."
NOT_ADDED = "The passkey could not be verified, so it was not added. Open the page again."


@dataclass(frozen=True)
class Site:
    """A relying party: the origin that passkeys are bound to, and its host without the port as relying party id."""

    origin: str
    host: str


@dataclass(frozen=True)
class Answer:
    """An answer of a browser, parsed but not verified; ``text`` is the whole answer as JSON."""

    credential_id: bytes
    challenge: bytes
    text: str


class NewPasskey(NamedTuple):
    """A verified registration of a new passkey."""

    credential_id: bytes
    public_key: bytes
    sign_count: int


def site_of(url: str) -> Site:
    """Return the relying party of a public URL."""
    parts = urlsplit(url)
    return Site(f"{parts.scheme}://{parts.netloc}", parts.hostname or "")


def new_challenge_key() -> bytes:
    """Make the secret key that authenticates an aggregator's challenges."""
    return secrets.token_bytes(_CODE_BYTES)


def new_challenge(key: bytes, now: int) -> bytes:
    """Make a challenge, valid for ``CHALLENGE_SECONDS`` after ``now`` (seconds since 1970)."""
    payload = now.to_bytes(_MOMENT_BYTES) + secrets.token_bytes(RANDOM_BYTES)
    return payload + hmac.digest(key, payload, "sha256")


def check_challenge(key: bytes, challenge: bytes, now: int) -> None:
    """Raise SignInRefused unless this aggregator issued the challenge and it is valid ``now`` (seconds since 1970)."""
    payload, code = challenge[:-_CODE_BYTES], challenge[-_CODE_BYTES:]
    given = int.from_bytes(payload[:_MOMENT_BYTES])
    if not hmac.compare_digest(code, hmac.digest(key, payload, "sha256")) or not 0 <= now - given <= CHALLENGE_SECONDS:
        raise SignInRefused(LATE)


def question_for_sign_in(site: Site, challenge: bytes) -> str:
    """Return the options of ``navigator.credentials.get`` as JSON: any passkey of the site, with user verification."""
    return options_to_json(
        generate_authentication_options(
            rp_id=site.host,
            challenge=challenge,
            timeout=CHALLENGE_SECONDS * 1000,
            user_verification=UserVerificationRequirement.REQUIRED,
        )
    )


def question_for_registration(site: Site, challenge: bytes, account: bytes, name: str, known: Sequence[bytes]) -> str:
    """Return the options of ``navigator.credentials.create`` as JSON.

    Args:
        account: id of the account, which the device stores with the passkey.
        name: name of the account, which the device shows.
        known: credential ids of the account's passkeys; a device with one of them makes no second one.
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
                resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.REQUIRED
            ),
            exclude_credentials=[PublicKeyCredentialDescriptor(id=credential_id) for credential_id in known],
        )
    )


def parse_answer(text: str) -> Answer:
    """Parse the answer of a browser; raise SignInRefused if it is malformed or too large."""
    try:
        if len(text) > MOST_BYTES:
            raise SignInRefused(NOT_TRUE)
        given = json.loads(text)
        challenge = parse_client_data_json(base64url_to_bytes(given["response"]["clientDataJSON"])).challenge
        return Answer(base64url_to_bytes(given["rawId"]), challenge, text)
    except Exception:  # the parsers may raise anything on malicious input
        raise SignInRefused(NOT_TRUE) from None


def verify_sign_in(site: Site, passkey: Passkey, answer: Answer) -> int:
    """Verify the signature of a sign-in and return the passkey's new signature counter.

    Args:
        passkey: stored passkey with the answer's credential id.
        answer: answer whose challenge was checked.

    Raises:
        SignInRefused: the signature, the site or the account is wrong, or the counter indicates a cloned passkey.
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
    except Exception:  # as above; an unreadable answer must never sign in
        raise SignInRefused(NOT_TRUE) from None
    return verified.new_sign_count


def verify_registration(site: Site, answer: Answer) -> NewPasskey:
    """Verify the registration of a new passkey, in an answer whose challenge was checked.

    Raises SignInRefused if the answer is invalid or for another site.
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
