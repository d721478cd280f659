"""Refuse requests for other sites, since a stranger's name may resolve to this server (DNS rebinding)."""

from collections.abc import Sequence

from flask import Flask, request
from sottovoce.aggregator.http.problems import Refusal
from werkzeug.sansio.utils import host_is_trusted

FOR_ANY_HOST = frozenset({"machine.healthz", "machine.readyz", "machine.metrics"})
"""Endpoints that programs ask at the address of each node."""


def register_hosts(app: Flask, names: Sequence[str]) -> None:
    """Refuse requests for a host not in ``names``, if there are any; ".name" stands for its subdomains too."""

    def check() -> None:
        if request.endpoint not in FOR_ANY_HOST and not host_is_trusted(request.host, names):
            raise Refusal("malformed", "the Host header names another site; see SOTTOVOCE_TRUSTED_HOSTS")

    if names:
        app.before_request(check)
