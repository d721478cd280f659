"""Refuse requests for other sites, since a stranger's name may resolve to this server (DNS rebinding)."""

from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

from flask import Flask, request
from sottovoce.aggregator.http.problems import Refusal
from werkzeug.sansio.utils import host_is_trusted

FOR_ANY_HOST = frozenset({"machine.healthz", "machine.readyz", "machine.metrics"})
"""Endpoints that programs ask at the address of each node."""

FOR_ANYBODY = frozenset({"", "collect", "front", "machine"})
"""Groups of endpoints that need no account: only names that the operator has set are refused here."""


def register_hosts(app: Flask, names: Sequence[str], is_set: bool) -> None:
    """Refuse requests for a host not in ``names``, if there are any; ".name" stands for its subdomains too.

    Names that are not set but learned bind staff's routes only. Staff may then still come by address, as through a
    tunnel: no stranger's page has an address of this machine for its origin.
    """

    def check() -> None:
        endpoint = request.endpoint or ""
        is_for_all = endpoint in FOR_ANY_HOST if is_set else endpoint.partition(".")[0] in FOR_ANYBODY
        if is_for_all or host_is_trusted(request.host, names) or (not is_set and _is_address(request.host)):
            return
        way = "see SOTTOVOCE_TRUSTED_HOSTS, SOTTOVOCE_PUBLIC_URL and the Host header that the proxy passes on"
        raise Refusal("malformed", f"the Host header names another site; {way}")

    if names:
        app.before_request(check)


def _is_address(host: str) -> bool:
    with suppress(ValueError):
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or bool(ip_address(name))
    return False
