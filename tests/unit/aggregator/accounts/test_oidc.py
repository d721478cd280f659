import hashlib
import hmac
import json
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc.jwk import ECKey
from sottovoce.aggregator.accounts import oidc, oidc_http
from sottovoce.aggregator.accounts.oidc import Client, Provider, attempt_of
from sottovoce.aggregator.accounts.oidc_http import ProviderCalls
from sottovoce.aggregator.accounts.sign_in_errors import ProviderUnavailable, SignInRefused
from sottovoce.aggregator.accounts.sign_in_settings import check_passkeys, provider_of
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.settings import SettingError, Settings

from tests.pretended_provider import CLIENT, SECRET, PretendedProvider, pretended_provider
from tests.software_authenticator import base64_of

ATTEMPT = attempt_of("the secret in a cookie")

CALLBACK = "http://localhost:8000/dashboard/oidc/callback"

HOUR = 3600


@pytest.fixture
def pretended() -> Iterator[PretendedProvider]:
    with pretended_provider() as provider:
        provider.claims["nonce"] = ATTEMPT.nonce
        yield provider


def made(pretended: PretendedProvider, calls: ProviderCalls | None = None, **changed: str) -> Provider:
    named = {"issuer": pretended.issuer, "client_id": CLIENT, "secret": SECRET, "callback": CALLBACK, **changed}
    return Provider(Client(**named), now, calls or ProviderCalls(2))


def sign_in(provider: Provider, **answer: str) -> str:
    return provider.subject(ATTEMPT, {"state": ATTEMPT.state, "code": "a code", **answer})


def refusal(provider: Provider, **answer: str) -> str:
    with pytest.raises(SignInRefused) as caught:
        sign_in(provider, **answer)
    return str(caught.value)


KNOWN = {"oidc_issuer": "https://sign-in.example", "oidc_client": "sottovoce", "oidc_secret": "sentinel"}


def test_person_is_named_by_issuer_and_sub_and_never_by_address(pretended: PretendedProvider) -> None:
    pretended.claims.update(email="owner@example.org", email_verified=True)

    assert sign_in(made(pretended)) == f"{pretended.issuer} ada"


def test_browser_is_sent_with_state_nonce_and_challenge_and_no_secret(pretended: PretendedProvider) -> None:
    """The address has the hash of the verifier, which follows only with the code."""
    address = made(pretended).address(ATTEMPT)
    asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    challenge = base64_of(hashlib.sha256(ATTEMPT.verifier.encode()).digest())

    assert address.startswith(f"{pretended.issuer}/auth?")
    assert asked == {
        "response_type": "code",
        "client_id": CLIENT,
        "redirect_uri": CALLBACK,
        "scope": "openid",
        "state": ATTEMPT.state,
        "nonce": ATTEMPT.nonce,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    sign_in(made(pretended))
    assert pretended.asked[0]["code_verifier"] == ATTEMPT.verifier


def test_attempts_of_two_browsers_share_nothing() -> None:
    other = attempt_of("another secret")

    assert len({ATTEMPT.state, ATTEMPT.nonce, ATTEMPT.verifier, other.state, other.nonce, other.verifier}) == 6


NOT_TRUE: list[dict[str, Any]] = [
    {"nonce": "of another sign-in"}, {"nonce": None}, {"iss": "https://other.example"}, {"iss": None},
    {"aud": "another client"}, {"aud": [CLIENT, "another client"], "azp": "another client"},
    {"aud": [CLIENT, "another client"]}, {"exp": 1_000_000}, {"sub": None}, {"sub": ""}, {"sub": 7}, {"sub": "a" * 256},
    {"at_hash": "of another token"},
]  # fmt: skip


@pytest.mark.parametrize("claims", [*NOT_TRUE, {"iat": None}, {"iat": float("nan")}, {"iat": "now"}], ids=str)
def test_token_for_somebody_or_something_else_names_nobody(
    pretended: PretendedProvider, claims: dict[str, Any]
) -> None:
    """Every claim is held against this sign-in; a moment that is none is said to be the clock's."""
    pretended.claims.update(claims)
    assert refusal(made(pretended)) == (oidc.WRONG_CLOCK if "iat" in claims else oidc.NOT_TRUE)


@pytest.mark.parametrize("seconds", [-HOUR, HOUR])
def test_clock_wrong_by_an_hour_is_said_to_be_that(pretended: PretendedProvider, seconds: int) -> None:
    moment = int(now().timestamp())
    pretended.claims.update(iat=moment + seconds, exp=moment + seconds + 2 * HOUR)
    assert refusal(made(pretended)) == oidc.WRONG_CLOCK

    pretended.claims.update(iat=moment + seconds // 30, exp=moment + 60)
    assert sign_in(made(pretended)).endswith(" ada")


def test_token_signed_by_another_key_names_nobody(pretended: PretendedProvider) -> None:
    pretended.signing = ECKey.generate_key("P-256", parameters={"kid": "first"})
    assert refusal(made(pretended)) == oidc.NOT_TRUE

    pretended.signing = ECKey.generate_key("P-256", parameters={"kid": "unknown"})
    assert refusal(made(pretended)) == oidc.NOT_TRUE


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_token_that_others_could_have_made_names_nobody(pretended: PretendedProvider, algorithm: str) -> None:
    moment = int(now().timestamp())
    told = {"iss": pretended.issuer, "aud": CLIENT, "sub": "ada", "iat": moment, "exp": moment + 60}
    parts = ({"alg": algorithm, "kid": "first"}, {**told, "nonce": ATTEMPT.nonce})
    signed = ".".join(base64_of(json.dumps(part).encode()) for part in parts)
    code = "" if algorithm == "none" else base64_of(hmac.digest(SECRET.encode(), signed.encode(), "sha256"))
    pretended.forged = f"{signed}.{code}"

    assert refusal(made(pretended)) == oidc.NOT_TRUE


def test_keys_are_asked_for_anew_once_they_are_rotated(pretended: PretendedProvider) -> None:
    provider = made(pretended)
    sign_in(provider)
    sign_in(provider)
    assert pretended.keys_asked == 1

    pretended.rotate()

    assert sign_in(provider).endswith(" ada")
    assert pretended.keys_asked == 2


def test_answer_to_another_browser_asks_the_provider_nothing(pretended: PretendedProvider) -> None:
    """Its state is not this browser's; the code stays with whom it was made for."""
    assert refusal(made(pretended), state=attempt_of("another browser").state) == oidc.START_AGAIN
    assert refusal(made(pretended), state="") == oidc.START_AGAIN
    assert pretended.asked == []


def test_answer_of_a_foreign_issuer_gets_no_code(pretended: PretendedProvider) -> None:
    """An answer that says whose it is must say the issuer; one that promises to say it must."""
    assert refusal(made(pretended), iss="https://other.example") == oidc.NOT_TRUE
    assert sign_in(made(pretended), iss=pretended.issuer).endswith(" ada")

    pretended.description["authorization_response_iss_parameter_supported"] = True
    assert refusal(made(pretended)) == oidc.NOT_TRUE
    assert len(pretended.asked) == 1


def test_person_who_cancels_is_told_so(pretended: PretendedProvider) -> None:
    assert refusal(made(pretended), error="access_denied", error_description="<b>no</b>") == oidc.CANCELLED
    assert refusal(made(pretended), code="") == oidc.CANCELLED


def test_refused_code_and_refused_client_are_told_apart(pretended: PretendedProvider) -> None:
    """One is for the person, one for whoever runs the aggregator."""
    pretended.refuses = "invalid_grant"
    assert refusal(made(pretended)) == oidc.SPENT
    made(pretended).check()

    pretended.refuses = "invalid_client"
    assert refusal(made(pretended)) == oidc.WRONG_CLIENT
    with pytest.raises(SignInRefused, match="SOTTOVOCE_OIDC_SECRET"):
        made(pretended).check()


@pytest.mark.parametrize(
    "description",
    [
        {"issuer": "https://other.example"},
        {"issuer": None},
        {"token_endpoint": "http://other.example/token"},
        {"jwks_uri": None},
    ],
)
def test_provider_of_another_name_or_without_secrecy_is_none(
    pretended: PretendedProvider, description: dict[str, Any]
) -> None:
    pretended.description.update(description)

    with pytest.raises(SignInRefused) as caught:
        made(pretended).address(ATTEMPT)
    assert str(caught.value) == oidc.NO_PROVIDER


def test_slash_at_the_end_is_another_issuer(pretended: PretendedProvider) -> None:
    """It finds the same description, which does not name it."""
    with pytest.raises(SignInRefused, match="to the last character"):
        made(pretended, issuer=f"{pretended.issuer}/").check()


def test_provider_that_is_down_is_said_to_be_down(pretended: PretendedProvider) -> None:
    with pytest.raises(ProviderUnavailable, match="did not answer"):
        made(pretended, issuer="http://127.0.0.1:9").address(ATTEMPT)


def test_provider_that_hangs_takes_no_more_threads_than_it_may() -> None:
    """Who waits is released in time, and the next one at once, until the calls under way have ended."""
    ended = threading.Event()
    calls = ProviderCalls(1)
    with pytest.raises(ProviderUnavailable, match="did not answer"):
        calls.run_with_timeout(ended.wait, seconds=0.05)
    with pytest.raises(ProviderUnavailable, match="Other people are signing in"):
        calls.run_with_timeout(ended.wait, seconds=0.05)
    ended.set()

    assert oidc_http.SECONDS == 5
    assert _first_free(calls) == "answer"


def test_spent_secret_is_not_in_any_address(pretended: PretendedProvider) -> None:
    provider = made(pretended)
    sign_in(provider)

    assert SECRET not in provider.address(ATTEMPT)
    assert all(SECRET not in value for asked in pretended.asked for value in asked.values())


def _first_free(calls: ProviderCalls) -> str:
    """What a call returns once the thread of the one before has ended, a moment after it was told to."""
    for _ in range(500):
        try:
            return calls.run_with_timeout(lambda: "answer")
        except ProviderUnavailable:
            time.sleep(0.01)
    return "none was free"


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"oidc_issuer": ""}, "SOTTOVOCE_OIDC_ISSUER"),
        ({"oidc_issuer": "http://sentinel.example"}, "SOTTOVOCE_OIDC_ISSUER"),
        ({"oidc_issuer": "sentinel"}, "SOTTOVOCE_OIDC_ISSUER"),
        ({"oidc_client": ""}, "SOTTOVOCE_OIDC_CLIENT"),
    ],
)
def test_missing_part_of_the_institution_is_named(wrong: dict[str, Any], named: str) -> None:
    """The message repeats no value, and least of all the secret."""
    with pytest.raises(SettingError, match=named) as caught:
        provider_of(Settings(**{**KNOWN, **wrong}), now)
    assert "sentinel" not in str(caught.value)


def test_unknown_door_is_named_at_once() -> None:
    """A door with a slip in its name would otherwise stay shut without a word."""
    with pytest.raises(SettingError, match="key oidc passkey"):
        Settings(sign_in_methods="key saml")
    assert Settings().allowed_sign_in_methods == {"key"}


@pytest.mark.parametrize("url", ["", "http://surveys.example", "https://192.0.2.1", "https://[2001:db8::1]:8443"])
def test_passkeys_need_a_name_and_secrecy(url: str) -> None:
    with pytest.raises(SettingError, match="SOTTOVOCE_PUBLIC_URL"):
        check_passkeys(Settings(public_url=url))


def test_passkeys_work_on_ones_own_machine_and_behind_https() -> None:
    """The machine's own name needs no secrecy."""
    check_passkeys(Settings(public_url="http://localhost:8000"))
    check_passkeys(Settings(public_url="https://surveys.example"))


def test_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens a door without its libraries is told what to install."""
    for library in ("authlib", "joserfc", "webauthn"):
        monkeypatch.setitem(sys.modules, library, None)
    for module in ("oidc", "passkeys"):
        monkeypatch.delitem(sys.modules, f"sottovoce.aggregator.accounts.{module}", raising=False)

    for opened in (lambda: provider_of(Settings(**KNOWN), now), lambda: check_passkeys(Settings())):
        with pytest.raises(SettingError, match=r"\.\[sso\]"):
            opened()
