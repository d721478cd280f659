"""
What comes over the wire, decoded strictly: a report, a batch of them, a withdrawal.

Decoding alone would let duplicate keys, another order, spaces or escapes pass; encoding the result again must give
the bytes that came.
"""

import hashlib
import re

import msgspec
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.report import FORMAT, MAX_WAVE, Report

BATCH_FORMAT = "sottovoce-batch/1"
MOST_ITEMS = 1000

_REPORT_ID = re.compile("[0-9a-f]{32}").fullmatch
_DIGEST = re.compile("[0-9a-f]{64}").fullmatch


class Wire(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The report's JSON; field order is the canonical order."""

    format: str
    survey: str
    digest: str
    wave: int
    report_id: str
    values: tuple[int | None, ...]


class Receipt(msgspec.Struct, frozen=True):
    """What is answered to an admitted report; the fast twin of ``sottovoce.shared.report.receipt``."""

    format: str
    survey: str
    digest: str
    wave: int
    report_id: str
    sha256: str


class Item(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """One report of a batch, its own bytes untouched, and the token that it spends."""

    report: msgspec.Raw
    token: str = ""


class _Batch(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    format: str
    items: list[msgspec.Raw]


class _Withdrawal(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    report_id: str


_encode = msgspec.json.Encoder().encode
_decode_report = msgspec.json.Decoder(Wire).decode
_decode_item = msgspec.json.Decoder(Item).decode
_decode_batch = msgspec.json.Decoder(_Batch).decode
_decode_withdrawal = msgspec.json.Decoder(_Withdrawal).decode


def parse_report(body: bytes | msgspec.Raw) -> Wire:
    """
    The report in ``body``, with whatever padding.

    Raises:
        ReportRejected: ``malformed``.
    """
    try:
        wire = _decode_report(body)
        same = _encode(wire) == bytes(body).rstrip(b" ")
    except (msgspec.MsgspecError, RecursionError, ValueError):
        raise malformed() from None
    if (
        not same
        or wire.format != FORMAT
        or not 0 <= wire.wave <= MAX_WAVE
        or not _REPORT_ID(wire.report_id)
        or not _DIGEST(wire.digest)
    ):
        raise malformed()
    return wire


def parse_wire(body: bytes) -> Report:
    """
    The report in ``body``; the fast twin of ``sottovoce.shared.report.parse_report``, bound to it by the vectors.

    Raises:
        ReportRejected: ``malformed``.
    """
    wire = parse_report(body)
    return Report(wire.survey, wire.digest, wire.wave, wire.report_id, wire.values)


def parse_batch(body: bytes) -> list[msgspec.Raw]:
    """
    The items of a batch, none of them read yet: a bad one fails alone.

    Raises:
        ReportRejected: ``malformed``, as a whole.
    """
    try:
        batch = _decode_batch(body)
        same = _encode(batch) == body
    except (msgspec.MsgspecError, RecursionError, ValueError):
        raise malformed() from None
    if not same or batch.format != BATCH_FORMAT or not 1 <= len(batch.items) <= MOST_ITEMS:
        raise malformed()
    return batch.items


def parse_item(raw: msgspec.Raw) -> Item:
    """
    One item of a batch.

    Raises:
        ReportRejected: ``malformed``.
    """
    try:
        item = _decode_item(raw)
        same = _encode(item) == bytes(raw)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        raise malformed() from None
    if not same:
        raise malformed()
    return item


def parse_withdrawal(body: bytes) -> str:
    """
    The id of the report to withdraw.

    Raises:
        ReportRejected: ``malformed``.
    """
    try:
        withdrawal = _decode_withdrawal(body)
        same = _encode(withdrawal) == body
    except (msgspec.MsgspecError, RecursionError, ValueError):
        raise malformed() from None
    if not same or not _REPORT_ID(withdrawal.report_id):
        raise malformed()
    return withdrawal.report_id


def make_receipt(wire: Wire, body: bytes) -> Receipt:
    """The receipt for a report in these bytes."""
    digest = hashlib.sha256(body).hexdigest()
    return Receipt("sottovoce-receipt/1", wire.survey, wire.digest, wire.wave, wire.report_id, digest)


def dump(value: object) -> bytes:
    """A reply as JSON."""
    return _encode(value)


def malformed() -> ReportRejected:
    """The refusal of whatever is not canonical."""
    return ReportRejected("malformed", "the request is not in canonical form")
