"""Aggregators that lie, in the place of a transport: each keeps what it was sent, and says what it likes."""

from collections.abc import Callable
from typing import Any

from sottovoce.shared.errors import TransportError
from sottovoce.shared.report import parse_report, receipt

ORIGIN = "https://a.example"

Reply = Callable[[bytes], dict[str, Any]]
"""What is answered to a report; or it raises what a transport would raise."""


def acknowledge(body: bytes) -> dict[str, Any]:
    return receipt(parse_report(body), body)


def refuse(status: int | None, reason: str | None = None) -> Reply:
    def reply(_body: bytes) -> dict[str, Any]:
        raise TransportError("refused", status, reason)

    return reply


def false_receipt(**changes: Any) -> Reply:
    """A receipt in which something is another one; None leaves it out."""

    def reply(body: bytes) -> dict[str, Any]:
        told = acknowledge(body) | changes
        return {key: value for key, value in told.items() if value is not None}

    return reply


LIES: dict[str, Reply] = {
    "token": refuse(401, "token_invalid"),
    "closed": refuse(409, "closed"),
    "conflict": refuse(409, "id_conflict"),
    "gone": refuse(410, "withdrawn"),
    "malformed": refuse(400, "malformed"),
    "unknown": refuse(404),
    "broken": refuse(500),
    "busy": refuse(429, "busy"),
    "silent": refuse(None),
    "nothing": lambda _: {},
    "another hash": false_receipt(sha256="0" * 64),
    "another id": false_receipt(report_id="0" * 32),
    "another digest": false_receipt(digest="0" * 64),
    "another wave": false_receipt(wave=False),
    "half a receipt": false_receipt(sha256=None),
    "one word more": false_receipt(token="good"),
}
"""Everything but the receipt."""


class Aggregator:
    """One that answers as it is told, and keeps every report that it was sent."""

    origin = ORIGIN

    def __init__(self, reply: Reply = acknowledge) -> None:
        self.reply = reply
        self.bodies: list[bytes] = []

    def submit(self, _survey: str, body: bytes, _token: str = "") -> dict[str, Any]:
        self.bodies.append(body)
        return self.reply(body)

    def withdraw(self, survey: str, report_id: str) -> dict[str, Any]:
        return {"format": "sottovoce-withdrawal/1", "survey": survey, "report_id": report_id}
