"""
A batch whose reports differ in nothing but id and values, read without a JSON parser.

Nearly every batch is one: reports of one survey and wave, without tokens. Canonical reports have no freedom, so that
cutting such a batch where the common bytes repeat leaves an id and the text of the values, five times as fast as
decoding and encoding it again. Whatever does not fit to the byte is left to ``decode``, item by item.
"""

import hashlib
import re
from typing import NamedTuple

_START = re.compile(
    rb'\{"format":"sottovoce-batch/1","items":\['
    rb'(\{"report":(\{"format":"sottovoce-report/1","survey":"([a-z0-9_-]{1,64})","digest":"([0-9a-f]{64})",'
    rb'"wave":(0|[1-9][0-9]{0,3}),"report_id":"))'
)
_BETWEEN = b'","values":['
_IDS = re.compile(rb"[0-9a-f]*").fullmatch
_ID = 32
_VALUES = _ID + len(_BETWEEN)


class FastBatch(NamedTuple):
    """
    Such a batch.

    Attributes:
        head: what every report begins with, up to its id.
        ids: all ids, one after the other, as hexadecimal digits.
        rests: of each report, what lies between ``head`` and its last two brackets.
    """

    survey: str
    digest: str
    wave: int
    head: bytes
    ids: str
    rests: list[bytes]

    @property
    def padded(self) -> bool:
        """A batch leaves out the padding."""
        return False

    @property
    def values(self) -> list[bytes]:
        """The values of each report as they were written, without brackets; not looked at yet."""
        return [rest[_VALUES:] for rest in self.rests]

    @property
    def length(self) -> int:
        """Bytes of the longest report."""
        return len(self.head) + max(map(len, self.rests)) + 2

    def receipts(self, length: int) -> list[str]:
        """The receipts as JSON; ``length`` is that of a report sent alone, padding included."""
        hashed = [hashlib.sha256((self.head + rest + b"]}").ljust(length)).hexdigest() for rest in self.rests]
        before = f'{{"format":"sottovoce-receipt/1","survey":"{self.survey}","digest":"{self.digest}",'
        before += f'"wave":{self.wave},"report_id":"'
        ids = [self.ids[start : start + _ID] for start in range(0, len(self.ids), _ID)]
        return [f'{before}{report_id}","sha256":"{sha256}"}}' for report_id, sha256 in zip(ids, hashed, strict=True)]


def decode_fast_batch(body: bytes, most: int) -> FastBatch | None:
    """
    The batch in ``body``, unless it is of another kind, or has more than ``most`` reports.

    Every byte is accounted for but those of the values: whoever uses them must find them canonical.
    """
    start = _START.match(body)
    if start is None or not body.endswith(b"]}}]}"):
        return None
    item, head, survey, digest, wave = start.groups()
    rests = body[start.end() : -5].split(b"]}}," + item)
    ids = b"".join([rest[:_ID] for rest in rests])
    whole = len(rests) <= most and len(ids) == _ID * len(rests) and _IDS(ids)
    if not whole or {rest[_ID:_VALUES] for rest in rests} != {_BETWEEN}:
        return None
    return FastBatch(survey.decode(), digest.decode(), int(wave), head, ids.decode(), rests)
