"""Set up OpenID Connect and passkeys from the settings; both need the extra ``[sso]``."""

from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sottovoce.aggregator.accounts.oidc_http import ProviderCalls
from sottovoce.aggregator.clock import Clock
from sottovoce.aggregator.settings import SettingError, Settings
from sottovoce.shared.errors import install_command

if TYPE_CHECKING:
    from sottovoce.aggregator.accounts.oidc import Provider

CALLBACK = "/dashboard/oidc/callback"
"""Path of the OpenID Connect redirect URI, which is registered at the provider."""

NEEDS_EXTRA = f"signing in by an institution, or by passkeys, needs {install_command('sso')}"


def provider_of(settings: Settings, clock: Clock) -> "Provider":
    """Build the provider that the settings name, without calling it.

    Raises SettingError if a setting is missing or invalid, or the extra is not installed.
    """
    try:
        from sottovoce.aggregator.accounts.oidc import Client, Provider, is_safe_address
    except ModuleNotFoundError:
        raise SettingError(NEEDS_EXTRA) from None
    if not is_safe_address(settings.oidc_issuer):
        raise SettingError("the setting SOTTOVOCE_OIDC_ISSUER must be the address of the provider, with https")
    if not settings.oidc_client:
        raise SettingError("the setting SOTTOVOCE_OIDC_CLIENT must be the client id that the institution has given")
    client = Client(settings.oidc_issuer, settings.oidc_client, settings.oidc_secret, settings.url + CALLBACK)
    # At most half of the application's threads wait for the provider; the others keep serving if it hangs.
    return Provider(client, clock, ProviderCalls(max(1, settings.threads // 2)))


def check_passkeys(settings: Settings) -> None:
    """Check that passkeys can work with the public URL.

    Raises SettingError if it has an IP address or no https, which browsers refuse, or the extra is not installed.
    """
    try:
        import sottovoce.aggregator.accounts.passkeys  # noqa: F401
    except ModuleNotFoundError:
        raise SettingError(NEEDS_EXTRA) from None
    host = urlsplit(settings.url).hostname or ""
    if _is_number(host) or not (settings.secure or host == "localhost"):
        raise SettingError("passkeys need an address with a name, and https: set SOTTOVOCE_PUBLIC_URL")


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
