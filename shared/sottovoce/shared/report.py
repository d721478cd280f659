"""Write and read the report that leaves a device: one integer per question, under a random id.

The bytes are canonical, and padded with spaces to a length that depends on the survey alone, so that neither the body
nor its length says anything more than the values do.
"""

import hashlib
import json
import re
from dataclasses import dataclass

from sottovoce.shared import canonical
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.spec import Survey

FORMAT = "sottovoce-report/1"
MAX_WAVE = 9999

_REPORT_ID = re.compile(r"[0-9a-f]{32}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_KEYS = ("format", "survey", "digest", "wave", "report_id", "values")


@dataclass(frozen=True)
class Report:
    """A respondent's perturbed answers.

    Attributes:
        digest: of the survey, 64 hexadecimal digits.
        wave: 0 .. 9999.
        report_id: 128 random bits as 32 lower-case hexadecimal digits.
        values: one integer per question, in the survey's order; None where the question was not asked.
    """

    survey: str
    digest: str
    wave: int
    report_id: str
    values: tuple[int | None, ...]


def dump_report(report: Report, survey: Survey) -> bytes:
    """Return the bytes to send, padded to ``report_length``; this is the reference that other encoders must match."""
    return _dump(report).ljust(report_length(survey, report.wave))


def report_length(survey: Survey, wave: int) -> int:
    """Return the length in bytes of every report of this survey and wave."""
    return len(_dump(Report(survey.name, survey.digest, wave, "0" * 32, survey.longest)))


def parse_report(body: bytes) -> Report:
    """Parse a report exactly as ``dump_report`` wrote it but for its padding; raise ReportRejected, ``malformed``."""
    try:
        report = _report(canonical.load(body))
    except ValueError as error:
        raise ReportRejected("malformed", f"the report {error}") from None
    if body.rstrip(b" ") != _dump(report):
        raise ReportRejected("malformed", "the report is not in canonical form")
    return report


def receipt(report: Report, body: bytes) -> dict[str, str | int]:
    """Return the aggregator's receipt for an admitted report, the same for every copy of it."""
    return {
        "format": "sottovoce-receipt/1",
        "survey": report.survey,
        "digest": report.digest,
        "wave": report.wave,
        "report_id": report.report_id,
        "sha256": hashlib.sha256(body).hexdigest(),
    }


def _dump(report: Report) -> bytes:
    values = (FORMAT, report.survey, report.digest, report.wave, report.report_id, list(report.values))
    return _ENCODER.encode(dict(zip(_KEYS, values, strict=True))).encode()


def _report(document: dict[str, object]) -> Report:
    if tuple(document) != _KEYS or document["format"] != FORMAT:
        raise ValueError("does not have the keys of a report")
    survey, digest, wave, report_id, values = (document[key] for key in _KEYS[1:])
    if not (isinstance(survey, str) and _matches(digest, _DIGEST) and _matches(report_id, _REPORT_ID)):
        raise ValueError("does not name its survey, digest and id")
    if not (type(wave) is int and 0 <= wave <= MAX_WAVE):
        raise ValueError("has no valid wave")
    if not (isinstance(values, list) and all(value is None or type(value) is int for value in values)):
        raise ValueError("does not carry a list of integers")
    return Report(survey, str(digest), wave, str(report_id), tuple(values))


def _matches(value: object, pattern: re.Pattern[str]) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None
