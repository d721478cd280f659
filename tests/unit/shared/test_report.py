"""What leaves a device: canonical bytes of one length per survey."""

import pytest
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.report import Report, dump_report, parse_report, receipt, report_length

from tests.documents import number, one_of, question, some_of, survey

SURVEY = parse_survey(
    survey(
        question({"name": "coin_flip"}),
        {**one_of(52, {"name": "subset_selection", "odds": "3", "size": 51}), "name": "s"},
        {**some_of(52, {"name": "bitwise_rr", "a": "3/4", "b": "1/4"}), "name": "m"},
        {**number(0, 1000, 1, {"name": "geometric", "ratio": "1/2"}), "name": "n"},
    )
)
REPORT = Report(SURVEY.name, SURVEY.digest, 0, "0123456789abcdef" * 2, (1, 2**51 - 1, 0, None))
BODY = dump_report(REPORT, SURVEY)


def with_values(*values):
    return Report(REPORT.survey, REPORT.digest, REPORT.wave, REPORT.report_id, values)


def test_every_report_of_a_survey_has_one_length():
    """The least and the largest values, and questions not asked, look the same from outside."""
    largest = tuple(asked.largest for asked in SURVEY.questions)
    reports = [with_values(0, 0, 0, 0), with_values(*largest), with_values(None, None, None, 1000)]

    assert all(asked.admits(asked.largest) for asked in SURVEY.questions)
    assert {len(dump_report(report, SURVEY)) for report in reports} == {report_length(SURVEY, 0)}


def test_report_reads_back_as_itself():
    assert parse_report(BODY) == REPORT


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"wave":0', b'"wave":-0'), (b'"wave":0', b'"wave":0.0'), (b'"wave":0', b'"wave":10000'),
        (b'"wave":0', b'"wave":true'),
        (b'"wave":0', b'"wave": 0'), (b'"wave":0,', b'"wave":0,"wave":0,'), (b'"wave":0,', b""), (b"[1,", b"[1.0,"),
        (b"[1,", b"[true,"), (b"[1,", b'["1",'), (b"[1,", b"[01,"), (b"[1,", b"[[1],"), (b"null]", b"nul]"),
        (b"null]", b"null]]"), (b'{"format"', b' {"format"'), (b"report/1", b"report/2"),
        (b"0123456789abcdef", b"0123456789ABCDEF"),
        (b"0123456789abcdef0", b"0"), (b'"survey":"vector"', b'"survey":null'),
        (b'"survey":"vector"', b'"survey":"v\\u0065ctor"'),
        (b"}", b',"extra":1}'), (b"}", b"}\n"), (b"}", b"}\x00"),
    ],
)  # fmt: skip
def test_any_other_spelling_is_malformed(old, new):
    """What admission keeps is what was sent, byte for byte."""
    assert old in BODY
    with pytest.raises(ReportRejected) as caught:
        parse_report(BODY.replace(old, new, 1))
    assert caught.value.code == "malformed"


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b"{}", b"\xff", b"{" * 10_000])
def test_what_is_no_report_is_malformed(body):
    """No other error leaves the parser."""
    with pytest.raises(ReportRejected):
        parse_report(body)


def test_receipt_names_the_bytes():
    assert receipt(REPORT, BODY) == receipt(parse_report(BODY), BODY)
    assert receipt(REPORT, BODY)["sha256"] != receipt(REPORT, BODY + b" ")["sha256"]


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [("q", [0, 1], [-1, 2]), ("s", [2**51 - 1, 2**52 - 2], [0, 2**52 - 1, 2**51, 2**52, -1]),
     ("m", [0, 2**52 - 1], [2**52, -1]),
     ("n", [0, 1000], [1001])],
)  # fmt: skip
def test_admits_is_exactly_what_the_mechanism_can_report(name, good, bad):
    """Popcount of a subset included."""
    asked = next(asked for asked in SURVEY.questions if asked.name == name)

    assert all(asked.admits(value) for value in good)
    assert not any(asked.admits(value) for value in bad)
