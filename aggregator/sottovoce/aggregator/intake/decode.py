"""Decode reports, batches and withdrawals strictly.

A JSON decoder accepts duplicate keys, another order of keys, spaces and escapes. So the decoded value is encoded again
and compared with the received bytes.
"""

import hashlib
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.report import FORMAT, MAX_WAVE

BATCH_FORMAT = "sottovoce-batch/1"
MOST_ITEMS = 1000

_FORMAT = len(b'{"format":"sottovoce-report/1"')
_REPORT_ID = re.compile("[0-9a-f]{32}").fullmatch
_DIGEST = re.compile("[0-9a-f]{64}").fullmatch


class ReportDocument(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """JSON object of a report; the order of fields is the canonical order."""

    format: str
    survey: str
    digest: str
    wave: int
    report_id: str
    values: tuple[int | None, ...]


class BatchItem(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """Report of a batch with the token that it spends, or the signature of its id."""

    report: ReportDocument
    token: str = ""
    signature: str = ""


class Submission(NamedTuple):
    """Decoded report with the other data of its request.

    Attributes:
        body: bytes of the report as received.
        token: token to spend; empty if there is none.
        signature: blind signature of the report's id, encoded; empty if there is none.
        padded: the report was sent alone, with padding; reports in a batch have none.
    """

    report: ReportDocument
    body: bytes
    token: str = ""
    padded: bool = True
    signature: str = ""


class _Batch(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Batch whose items are left as JSON text."""

    format: str
    items: list[msgspec.Raw]


class _Withdrawal(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    report_id: str


_encode = msgspec.json.Encoder().encode
_report = msgspec.json.Decoder(ReportDocument).decode
_item = msgspec.json.Decoder(BatchItem).decode
_batch = msgspec.json.Decoder(_Batch).decode
_values = msgspec.json.Decoder(tuple[int | None, ...]).decode
_withdrawal = msgspec.json.Decoder(_Withdrawal).decode


def decode_report(body: bytes) -> ReportDocument:
    """Decode a report, ignoring padding; the fast equivalent of ``sottovoce.shared.report.parse_report``.

    Raises ReportRejected, ``malformed``.
    """
    report: ReportDocument = _canonical(_report, body.rstrip(b" "))
    if not _well_formed(report):
        raise malformed(f"a report has format {FORMAT}, a wave from 0 to {MAX_WAVE}, and a digest and an id in hex")
    return report


def decode_batch(body: bytes) -> list[Submission | None]:
    """Decode the items of a batch; None in the place of a malformed item.

    Raises ReportRejected, ``malformed``, for the batch as a whole.
    """
    batch = _canonical(_batch, body)
    # Item by item, so that a bad one fails alone.
    items = [_parse_item(bytes(raw)) for raw in batch.items]
    if batch.format != BATCH_FORMAT or not 1 <= len(items) <= MOST_ITEMS:
        raise malformed(f"a batch has format {BATCH_FORMAT} and 1 to {MOST_ITEMS:,} items")
    return [None if item is None else _submission(item) for item in items]


def _submission(item: BatchItem) -> Submission:
    return Submission(item.report, _encode(item.report), item.token, padded=False, signature=item.signature)


def _parse_item(raw: bytes) -> BatchItem | None:
    try:
        item: BatchItem = _canonical(_item, raw)
    except ReportRejected:
        return None
    return item if _well_formed(item.report) else None


def decode_withdrawal(body: bytes) -> str:
    """Return the report's id, in hexadecimal digits, of a withdrawal; raise ReportRejected, ``malformed``."""
    report_id: str = _canonical(_withdrawal, body).report_id
    if not _REPORT_ID(report_id):
        raise malformed("report_id is 32 digits and letters from a to f")
    return report_id


def decode_values(text: bytes) -> tuple[int | None, ...]:
    """Decode the values of a report from the JSON text between their brackets; raise ReportRejected, ``malformed``."""
    values: tuple[int | None, ...] = _canonical(_values, b"[" + text + b"]")
    return values


def make_receipt(report: bytes, end: int) -> bytes:
    """Return the receipt of a padded report as JSON; faster equivalent of ``sottovoce.shared.report.receipt``.

    ``end`` is the index behind the digits of its id: a receipt names the same as a report up to there.
    """
    sha256 = hashlib.sha256(report).hexdigest().encode()
    return b'{"format":"sottovoce-receipt/1"%s","sha256":"%s"}' % (report[_FORMAT:end], sha256)


def dump(value: object) -> bytes:
    """Encode a reply as JSON."""
    return _encode(value)


def malformed(why: str = "the request is not in canonical form") -> ReportRejected:
    """Return the rejection of a malformed request; ``why`` says what is expected and must not quote the request."""
    return ReportRejected("malformed", why)


def _canonical(decode: Callable[[bytes], Any], body: bytes) -> Any:  # noqa: ANN401 - whatever the decoder makes
    try:
        value = decode(body)
        # Order of keys, spaces, escapes and duplicates could carry bits beside the values (decision 0011).
        same = _encode(value) == body
    except msgspec.ValidationError:
        raise malformed("a key is missing, unknown, or has a value of another type") from None
    except (msgspec.MsgspecError, RecursionError, ValueError):
        raise malformed("the body is not JSON") from None
    if not same:
        raise malformed()
    return value


def _well_formed(report: ReportDocument) -> bool:
    in_range = report.format == FORMAT and 0 <= report.wave <= MAX_WAVE
    return bool(in_range and _REPORT_ID(report.report_id) and _DIGEST(report.digest))
