"""What a device spends on blocks: each once, against the limit of one question and that of a report."""

import math

import pytest
from sottovoce.aggregator.surveys.privacy_limit import check_affordable
from sottovoce.client import FileLedger
from sottovoce.shared.errors import BudgetExhausted, SpecError
from sottovoce.shared.report import parse_report, report_length

from tests.blocks import block, blocks, in_block
from tests.unit.client.test_respondent import respondent

TWO = ("a", "b")


def of_odds(*odds):
    """A survey with a block of two yes/no questions at each of these odds."""
    made = [
        block(*(in_block(f"{name}{place}") for name in TWO), odds=each, name=f"block{place}")
        for place, each in enumerate(odds)
    ]
    return blocks(*made)


@pytest.mark.parametrize("options", [2, 60])
def test_a_block_is_charged_once(tmp_path, options):
    """Not once a question; the report has one length for whatever is answered."""
    survey, ledger = blocks(block(in_block("a", options), in_block("b", options))), FileLedger(tmp_path)
    last = "yes" if options == 2 else "c59"
    me, _ = respondent(asked=survey, ledger=ledger)
    body = me.answer({"a": last, "b": last})["body"].encode()
    assert len(body) == report_length(survey, 0)
    assert parse_report(body).survey == survey.name
    assert ledger.spent("https://a.example") == pytest.approx(math.log(9), abs=1e-12)


@pytest.mark.parametrize("odds", [("20", "20"), ("20", "7")])
def test_blocks_within_the_limits_are_answered(odds):
    """Two at odds of 20 cost 5.99 together, each less than 3."""
    survey = of_odds(*odds)
    check_affordable(survey)
    me, _ = respondent(asked=survey)
    assert me.answer(dict.fromkeys((question.name for question in survey.questions), "yes"))["body"]


@pytest.mark.parametrize(("odds", "words"), [(("21",), "one question"), (("20", "20", "20"), "in total")])
def test_blocks_beyond_a_limit_are_refused_by_server_and_device(odds, words):
    """The odds of one question alone are never held against the limit: 21 is refused, although 11 to 1 is shown."""
    survey = of_odds(*odds)
    with pytest.raises(SpecError) as refused:
        check_affordable(survey)
    # Once for a block, and not once for each of its questions.
    assert len(refused.value.problems) == 1
    with pytest.raises(BudgetExhausted, match=words):
        respondent(asked=survey)


def test_block_of_twelve_is_answered():
    """4,096 combinations, of which the radius makes many alike; every value is a category."""
    names = "abcdefghijkl"
    survey = blocks(block(*map(in_block, names), odds="20", radius=5))
    me, _ = respondent(asked=survey)
    report = parse_report(me.answer(dict.fromkeys(names, "yes"))["body"].encode())
    assert set(report.values) <= {0, 1}
    assert len(report.values) == len(names)
