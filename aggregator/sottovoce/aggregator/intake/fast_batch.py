"""Fast parser for batches whose reports differ only in id and values.

Most batches are of this kind: one survey and wave, without tokens. Canonical JSON has only one form, so splitting the
batch at the bytes that all reports share leaves ids and values, five times as fast as decoding and encoding again. If
any byte differs from this form, ``decode`` parses the batch item by item.
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
    """Batch of reports that differ only in id and values.

    Attributes:
        head: common beginning of the reports, up to the id.
        ids: hexadecimal digits of all ids, concatenated.
        rests: bytes of each report between ``head`` and its last two brackets.
    """

    survey: str
    digest: str
    wave: int
    head: bytes
    ids: str
    rests: list[bytes]

    @property
    def padded(self) -> bool:
        """Always False: reports in a batch have no padding."""
        return False

    @property
    def values(self) -> list[bytes]:
        """JSON text of each report's values, without brackets and not yet checked."""
        return [rest[_VALUES:] for rest in self.rests]

    @property
    def length(self) -> int:
        """Number of bytes of the longest report."""
        return len(self.head) + max(map(len, self.rests)) + 2

    def receipts(self, length: int) -> list[str]:
        """Return the receipts as JSON; ``length`` is the padded length of a report."""
        # Receipts cover the padded report, as the device sent or would have sent it alone.
        hashed = [hashlib.sha256((self.head + rest + b"]}").ljust(length)).hexdigest() for rest in self.rests]
        before = f'{{"format":"sottovoce-receipt/1","survey":"{self.survey}","digest":"{self.digest}",'
        before += f'"wave":{self.wave},"report_id":"'
        ids = [self.ids[start : start + _ID] for start in range(0, len(self.ids), _ID)]
        return [f'{before}{report_id}","sha256":"{sha256}"}}' for report_id, sha256 in zip(ids, hashed, strict=True)]


def decode_fast_batch(body: bytes, most: int) -> FastBatch | None:
    """Parse a batch; return None if it is of another kind or has more than ``most`` reports.

    This checks every byte except those of the values, which the caller must decode strictly.
    """
    start = _START.match(body)
    if start is None or not body.endswith(b"]}}]}"):
        return None
    item, head, survey, digest, wave = start.groups()
    # Values that contained these bytes would fail their strict decoding, so splitting here is safe.
    rests = body[start.end() : -5].split(b"]}}," + item)
    ids = b"".join([rest[:_ID] for rest in rests])
    complete = len(rests) <= most and len(ids) == _ID * len(rests) and _IDS(ids)
    if not complete or {rest[_ID:_VALUES] for rest in rests} != {_BETWEEN}:
        return None
    return FastBatch(survey.decode(), digest.decode(), int(wave), head, ids.decode(), rests)
