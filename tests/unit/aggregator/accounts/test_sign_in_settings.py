"""From the settings to the doors: what is missing is said when the aggregator starts."""

import sys
from typing import Any

import pytest
from sottovoce.aggregator.accounts.sign_in_settings import check_passkeys, provider_of
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.settings import SettingError, Settings

KNOWN = {"oidc_issuer": "https://sign-in.example", "oidc_client": "sottovoce", "oidc_secret": "sentinel"}


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
    """Browsers give them to no other address."""
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
