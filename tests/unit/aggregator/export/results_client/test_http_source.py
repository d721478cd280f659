"""A long analysis of an aggregator elsewhere is asked for again until it has ended."""

import json
from typing import Any

import pytest
import requests
from sottovoce.aggregator.export.results_client import http_source
from sottovoce.aggregator.export.results_client.http_source import AddressReports
from sottovoce.shared.errors import TransportError

JOB = "0123456789abcdef0123456789abcdef"


def replies(monkeypatch: pytest.MonkeyPatch, *given: tuple[int, dict[str, Any]]) -> list[tuple[str, str]]:
    """Let the aggregator give these replies, one after another; returns the requests as they come."""
    asked: list[tuple[str, str]] = []

    def request(method: str, url: str, **_: object) -> requests.Response:
        reply = requests.Response()
        reply.status_code, document = given[len(asked)]
        reply._content = json.dumps(document).encode()
        reply.headers["Location"] = f"https://elsewhere.example/api/v1/surveys/exam/analyses/{JOB}"
        asked.append((method, url))
        return reply

    monkeypatch.setattr(requests, "request", request)
    monkeypatch.setattr(http_source, "ASK_AGAIN", 0)
    return asked


def test_long_analysis_is_fetched_from_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the aggregator that was named, wherever the reply points: the key goes nowhere else."""
    asked = replies(monkeypatch, (202, {}), (202, {}), (200, {"format": "sottovoce-pairs/1"}))

    assert AddressReports("https://a.example", "exam", "key").answer("pairs", {}) == {"format": "sottovoce-pairs/1"}
    address = f"https://a.example/api/v1/surveys/exam/analyses/{JOB}"
    assert asked == [("POST", "https://a.example/api/v1/surveys/exam/pairs"), ("GET", address), ("GET", address)]


def test_stopped_analysis_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the sentence of the aggregator."""
    replies(monkeypatch, (202, {}), (422, {"code": "analysis_stopped", "detail": "stopped after 60 seconds"}))

    with pytest.raises(TransportError, match="stopped after 60 seconds"):
        AddressReports("https://a.example", "exam", "key").answer("pairs", {})
