"""
What comes over the wire, decoded strictly: a report, a batch of them, a withdrawal.

Decoding alone would let duplicate keys, another order, spaces or escapes pass; encoding the result again must give
the bytes that came.
"""

import hashlib
import re
from collections.abc import Callable
from typing import Any

import msgspec
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.report import FORMAT, MAX_WAVE, Report

BATCH_FORMAT = "sottovoce-batch/1"
MOST_ITEMS = 1000

_REPORT_ID = re.compile("[0-9a-f]{32}").fullmatch
_HEX = re.compile("[0-9a-f]*").fullmatch
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
    """One report of a batch, and the token that it spends."""

    report: Wire
    token: str = ""


class _Batch(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    format: str
    items: list[Item]


class _RawBatch(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The same with its items untouched."""

    format: str
    items: list[msgspec.Raw]


class _Withdrawal(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    report_id: str


_encode = msgspec.json.Encoder().encode
_report = msgspec.json.Decoder(Wire).decode
_item = msgspec.json.Decoder(Item).decode
_batch = msgspec.json.Decoder(_Batch).decode
_raw_batch = msgspec.json.Decoder(_RawBatch).decode
_values = msgspec.json.Decoder(tuple[int | None, ...]).decode
_withdrawal = msgspec.json.Decoder(_Withdrawal).decode


def parse_report(body: bytes) -> Wire:
    """
    The report in ``body``, with whatever padding.

    Raises:
        ReportRejected: ``malformed``.
    """
    wire: Wire = _canonical(_report, body.rstrip(b" "))
    if not _well_formed(wire):
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


def parse_batch(body: bytes) -> list[Item | None]:
    """
    The items of a batch; None for one that is malformed, which fails alone.

    Raises:
        ReportRejected: ``malformed``, as a whole.
    """
    try:
        # One pass over all items, as long as every single one is canonical.
        batch = _canonical(_batch, body)
        items = _well_formed_items(batch.items)
    except ReportRejected:
        batch = _canonical(_raw_batch, body)
        items = [_parse_item(bytes(raw)) for raw in batch.items]
    if batch.format != BATCH_FORMAT or not 1 <= len(items) <= MOST_ITEMS:
        raise malformed()
    return items


def _well_formed_items(items: list[Item]) -> list[Item | None]:
    # Mostly all are, and one search through all ids is quicker than a thousand.
    heads = {(report.format, report.wave, report.digest): report for report in [item.report for item in items]}
    ids = [item.report.report_id for item in items]
    if set(map(len, ids)) == {32} and _HEX("".join(ids)) and all(map(_well_formed, heads.values())):
        return list(items)
    return [item if _well_formed(item.report) else None for item in items]


def _parse_item(raw: bytes) -> Item | None:
    try:
        item: Item = _canonical(_item, raw)
    except ReportRejected:
        return None
    return item if _well_formed(item.report) else None


def parse_withdrawal(body: bytes) -> str:
    """
    The id of the report to withdraw.

    Raises:
        ReportRejected: ``malformed``.
    """
    report_id: str = _canonical(_withdrawal, body).report_id
    if not _REPORT_ID(report_id):
        raise malformed()
    return report_id


def parse_values(text: bytes) -> tuple[int | None, ...]:
    """
    The values that a report has between its brackets.

    Raises:
        ReportRejected: ``malformed``.
    """
    values: tuple[int | None, ...] = _canonical(_values, b"[" + text + b"]")
    return values


def report_bytes(wire: Wire, length: int) -> bytes:
    """The report's bytes as they are sent alone."""
    return _encode(wire).ljust(length)


def make_receipt(wire: Wire, body: bytes) -> Receipt:
    """The receipt for a report in these bytes."""
    digest = hashlib.sha256(body).hexdigest()
    return Receipt("sottovoce-receipt/1", wire.survey, wire.digest, wire.wave, wire.report_id, digest)


def dump(value: object) -> bytes:
    """A reply as JSON."""
    return _encode(value)


def ready(text: str) -> msgspec.Raw:
    """JSON that is to be taken over as it is."""
    return msgspec.Raw(text)


def malformed() -> ReportRejected:
    """The refusal of whatever is not canonical."""
    return ReportRejected("malformed", "the request is not in canonical form")


def _canonical(decode: Callable[[bytes], Any], body: bytes) -> Any:  # noqa: ANN401 - whatever the decoder makes
    try:
        value = decode(body)
        same = _encode(value) == body
    except (msgspec.MsgspecError, RecursionError, ValueError):
        raise malformed() from None
    if not same:
        raise malformed()
    return value


def _well_formed(wire: Wire) -> bool:
    return bool(
        wire.format == FORMAT and 0 <= wire.wave <= MAX_WAVE and _REPORT_ID(wire.report_id) and _DIGEST(wire.digest)
    )
