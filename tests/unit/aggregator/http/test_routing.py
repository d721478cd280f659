"""The one table of routes is what the application is built from."""

import re
from collections import Counter

from flask import Flask
from sottovoce.aggregator.accounts.authentication import PUBLIC
from sottovoce.aggregator.app import ROUTES
from sottovoce.aggregator.http.problems import STATUS
from sottovoce.aggregator.http.routing import Kind, Limit


def test_url_map_is_the_table(app: Flask) -> None:
    mapped = [
        (rule.endpoint, method, rule.rule)
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    ]
    assert sorted(mapped) == sorted((route.endpoint, route.method, route.path) for route in ROUTES)


def test_every_row_has_a_name_and_an_address_of_its_own() -> None:
    assert max(Counter(route.endpoint for route in ROUTES).values()) == 1
    assert max(Counter((route.method, route.path) for route in ROUTES).values()) == 1


def test_row_says_what_it_does_whom_it_lets_in_and_refuses_by_known_codes() -> None:
    """A sentence, and problems of the closed list; devices and machines need no key, programs of researchers do."""
    for route in ROUTES:
        assert re.fullmatch(r"[A-Z].*\.", route.summary, re.DOTALL), route.endpoint
        assert set(route.refusals) <= STATUS.keys(), route.endpoint
        if route.kind is not Kind.PAGE:
            assert (route.endpoint in PUBLIC) == (route.kind is not Kind.RESEARCHER), route.endpoint


def test_what_only_reads_counts_for_no_limit() -> None:
    """A lecture hall behind one address asks for everything at once; whatever writes counts."""
    for route in ROUTES:
        assert (route.limit is None) == (route.method == "GET"), route.endpoint
    assert {route.endpoint for route in ROUTES if route.limit is Limit.FAILED_TOKENS} == {
        "collect.token",
        "collect.redeem",
    }
