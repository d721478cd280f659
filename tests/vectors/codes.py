"""Vectors of codes that carry a report through an address."""

import hashlib
from typing import Any

from sottovoce.shared.by_link.link_question import write_code

SIZES = (2, 3, 7, 1024, 2**40)


def code_vectors() -> list[dict[str, Any]]:
    """Return codes of the first, the last and no report of questions with few and many reports."""
    return [
        {"digest": digest, "size": str(size), "report": report if report is None else str(report), "once": once,
         "code": write_code(digest, size, report, once)}
        for size in SIZES for digest in [hashlib.sha256(str(size).encode()).hexdigest()]
        for report in (None, 0, size - 1) for once in range(3)
    ]  # fmt: skip
