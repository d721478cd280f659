"""OpenID Connect client: authorization code flow with PKCE (S256) and a nonce; the web pages are in ``oidc_pages``.

A person is identified only by issuer and ``sub``, never by an e-mail address: institutions reassign addresses, and
some providers let people enter their own.

Sources: OpenID Connect Core 1.0 (3.1.3.7) and Discovery 1.0 (4.3), RFC 7636 (PKCE), RFC 9207 (``iss``), RFC 9700.
"""

import hmac
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import requests
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import BadSignatureError, InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from sottovoce.aggregator.accounts.oidc_http import NO_ANSWER, ProviderCalls
from sottovoce.aggregator.accounts.sign_in_errors import ProviderUnavailable, SignInRefused
from sottovoce.aggregator.clock import Clock

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
"""Accepted signature algorithms, all asymmetric: with "none" or a shared secret, others could forge a token."""

KEY_TYPES = ("RSA", "EC", "OKP")
CLOCK_SKEW = 180
"""Tolerated difference between the clocks, in seconds."""

METADATA_SECONDS = 3600.0
CALL_SECONDS = 4.0
"""Timeout of a single call, in seconds; ``oidc_http.SECONDS`` limits all calls of a step together."""

START_AGAIN = "This sign-in was started in another browser, or too long ago. Start again from the sign-in page."
NOT_TRUE = "You are not signed in, because the answer of your institution could not be verified. Start again."
SPENT = (
    "You are not signed in, because your institution says that this answer was used before or came too late. Sign "
    "in again."
)
CANCELLED = "Your institution did not sign you in. Try again, or ask its support."
WRONG_CLOCK = (
    "You are not signed in, because the clocks of your institution and of this aggregator differ by more than "
    f"{CLOCK_SKEW // 60} minutes. The operator of this aggregator should compare both clocks."
)
WRONG_CLIENT = (
    "Your institution does not accept the client id and secret of this aggregator. Its operator should compare "
    "SOTTOVOCE_OIDC_CLIENT and SOTTOVOCE_OIDC_SECRET with the registration there."
)
NO_PROVIDER = (
    "SOTTOVOCE_OIDC_ISSUER is not the exact name of an OpenID Connect provider. The operator of this aggregator "
    "should compare it, to the last character, with `issuer` in the provider's own description."
)


@dataclass(frozen=True)
class Client:
    """A registration of this aggregator at a provider; an empty secret means a public client, which uses PKCE only."""

    issuer: str
    client_id: str
    secret: str
    callback: str


@dataclass(frozen=True)
class Attempt:
    """A sign-in attempt of a browser.

    Attributes:
        state: returned in the callback URL; proves that this browser began the attempt (CSRF protection).
        nonce: returned in the signed ID token; proves that the token was issued for this attempt.
        verifier: PKCE code verifier; proves to the provider that the client with the code began the attempt.
    """

    state: str
    nonce: str
    verifier: str


def attempt_of(secret: str) -> Attempt:
    """Derive the attempt from the random secret in the browser's cookie, so that nodes need no shared state."""
    return Attempt(*(hmac.digest(secret.encode(), word, "sha256").hex() for word in (b"state", b"nonce", b"verifier")))


class Provider:
    """An OpenID Connect provider of an institution; ``monotonic`` in seconds tells the age of cached metadata."""

    def __init__(
        self, client: Client, clock: Clock, calls: ProviderCalls, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._clock = clock
        self._calls = calls
        self._monotonic = monotonic
        self._known: tuple[float, dict[str, Any]] | None = None
        self._keys: KeySet | None = None

    def address(self, attempt: Attempt) -> str:
        """Return the authorization URL; raise SignInRefused if the provider's metadata are missing or do not match."""
        metadata = self._calls.run_with_timeout(self._metadata)
        address, _ = self._session(metadata).create_authorization_url(
            metadata["authorization_endpoint"], state=attempt.state, nonce=attempt.nonce, code_verifier=attempt.verifier
        )
        return str(address)

    def subject(self, attempt: Attempt, answer: Mapping[str, str]) -> str:
        """Exchange the code of a callback and return the person's identity: issuer and ``sub``, separated by a space.

        Args:
            attempt: attempt of the browser that sent the callback.
            answer: parameters of the callback URL.

        Raises:
            SignInRefused: the sign-in failed; the message is shown to the person.
        """
        if not hmac.compare_digest(answer.get("state", "").encode(), attempt.state.encode()):
            raise SignInRefused(START_AGAIN)
        if answer.get("iss", self._client.issuer) != self._client.issuer:
            raise SignInRefused(NOT_TRUE)
        if "error" in answer or not answer.get("code"):
            raise SignInRefused(CANCELLED)
        return self._calls.run_with_timeout(lambda: self._identity(attempt, answer))

    def check(self) -> None:
        """Check that the provider works and accepts the client credentials, without a sign-in.

        Exchanges an invalid code: the provider refuses it in any case, but names wrong client credentials as such.
        Raises SignInRefused, with a message for the operator.
        """
        try:
            self._calls.run_with_timeout(lambda: self._exchange(self._metadata(), attempt_of("nowhere"), "none"))
        except _CodeRefused:
            return

    def _identity(self, attempt: Attempt, answer: Mapping[str, str]) -> str:
        metadata = self._metadata()
        if metadata.get("authorization_response_iss_parameter_supported") is True and "iss" not in answer:
            raise SignInRefused(NOT_TRUE)
        token = self._exchange(metadata, attempt, answer["code"])
        try:
            claims = self._verify_claims(metadata, token, attempt)
        except (JoseError, ValueError):
            raise SignInRefused(NOT_TRUE) from None
        return f"{self._client.issuer} {claims['sub']}"

    def _verify_claims(
        self, metadata: Mapping[str, Any], token: Mapping[str, Any], attempt: Attempt
    ) -> Mapping[str, Any]:
        signed = self._verify_signature(metadata, str(token.get("id_token", "")))
        now = int(self._clock().timestamp())
        # The token was issued just now, so a wrong ``iat`` means a wrong clock, not an old token.
        issued = signed.claims.get("iat")
        if not isinstance(issued, int | float) or not abs(now - issued) <= CLOCK_SKEW:
            raise SignInRefused(WRONG_CLOCK)
        claims = CodeIDToken(
            signed.claims,
            signed.header,
            options={
                "iss": {"essential": True, "value": self._client.issuer},
                "aud": {"essential": True, "value": self._client.client_id},
            },
            params={
                "nonce": attempt.nonce,
                "client_id": self._client.client_id,
                "access_token": token.get("access_token"),
            },
        )
        claims.validate(now=now, leeway=CLOCK_SKEW)
        if not isinstance(claims["sub"], str) or not 0 < len(claims["sub"]) <= 255:
            raise SignInRefused(NOT_TRUE)
        return dict(claims)

    def _verify_signature(self, metadata: Mapping[str, Any], id_token: str) -> jwt.Token:
        """Verify the signature of an ID token; fetch the keys again if the cached ones do not fit (key rotation)."""
        if self._keys is not None:
            try:
                return jwt.decode(id_token, self._keys, algorithms=ALGORITHMS)
            except (InvalidKeyIdError, BadSignatureError):
                pass
        self._keys = _key_set(self._get(metadata["jwks_uri"]))
        return jwt.decode(id_token, self._keys, algorithms=ALGORITHMS)

    def _exchange(self, metadata: Mapping[str, Any], attempt: Attempt, code: str) -> Mapping[str, Any]:
        try:
            token: Mapping[str, Any] = self._session(metadata).fetch_token(
                metadata["token_endpoint"],
                grant_type="authorization_code",
                code=code,
                code_verifier=attempt.verifier,
                redirect_uri=self._client.callback,
                timeout=CALL_SECONDS,
                allow_redirects=False,
            )
        except OAuthError as error:
            if error.error in {"invalid_client", "unauthorized_client"}:
                raise SignInRefused(WRONG_CLIENT) from None
            raise _CodeRefused(SPENT) from None
        except (requests.RequestException, ValueError):
            raise ProviderUnavailable(NO_ANSWER) from None
        return token

    def _session(self, metadata: Mapping[str, Any]) -> Any:  # noqa: ANN401 - the library has no types
        methods = metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        how = "client_secret_basic" if "client_secret_basic" in methods else "client_secret_post"
        return OAuth2Session(
            self._client.client_id,
            self._client.secret or None,
            token_endpoint_auth_method=how if self._client.secret else "none",
            scope="openid",
            redirect_uri=self._client.callback,
            code_challenge_method="S256",
        )

    def _metadata(self) -> dict[str, Any]:
        now = self._monotonic()
        if self._known is None or now - self._known[0] >= METADATA_SECONDS:
            # Discovery 1.0, 4.3: the returned issuer must equal the configured one exactly.
            found = self._get(f"{self._client.issuer.removesuffix('/')}/.well-known/openid-configuration")
            needed = (found.get(name) for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"))
            if found.get("issuer") != self._client.issuer or not all(is_safe_address(address) for address in needed):
                raise SignInRefused(NO_PROVIDER)
            self._known = (now, found)
        return self._known[1]

    def _get(self, address: str) -> dict[str, Any]:
        try:
            reply = requests.get(address, timeout=CALL_SECONDS, allow_redirects=False)
        except requests.RequestException:
            raise ProviderUnavailable(NO_ANSWER) from None
        if reply.status_code >= 500:
            raise ProviderUnavailable(NO_ANSWER)
        try:
            found = reply.json()
        except ValueError:
            found = None
        if reply.status_code != 200 or not isinstance(found, dict):
            raise SignInRefused(NO_PROVIDER)
        return found


class _CodeRefused(SignInRefused):
    """A refusal of the code by a provider that accepted the client credentials."""


def is_safe_address(address: object) -> bool:
    """Return True if the address is https, or http to this machine, so that no third party can read the traffic."""
    if not isinstance(address, str):
        return False
    parts = urlsplit(address)
    own = parts.hostname in {"localhost", "127.0.0.1", "::1"}
    return bool(parts.hostname) and (parts.scheme == "https" or (own and parts.scheme == "http"))


def _key_set(document: Mapping[str, Any]) -> KeySet:
    """Import the keys of types that ``ALGORITHMS`` use, and ignore others."""
    listed = document.get("keys")
    keys = [key for key in listed if isinstance(key, dict)] if isinstance(listed, list) else []
    try:
        return KeySet.import_key_set({"keys": [key for key in keys if key.get("kty") in KEY_TYPES]})
    except (JoseError, ValueError) as error:
        raise SignInRefused(NOT_TRUE) from error
