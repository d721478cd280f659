"""What goes to the process of an analysis and back is what came in."""

import io
import json
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.jobs.child import (
    Job,
    pack_job,
    pack_reply,
    read_message,
    unpack_job,
    unpack_reply,
    write_message,
)
from sottovoce.aggregator.analysis.requests import KINDS_OF_REQUEST, parse_request
from sottovoce.shared.errors import Sentence

from tests.unit.aggregator.analysis.closed_surveys import OPTIONS
from tests.unit.aggregator.analysis.jobs.long_model import long_columns

ANY = {"wave": 0, "where": "year = first"}
WEIGHTED = {**ANY, "margins": {"year": {"first": "0.5", "second": 1}}, "confidence": 0.9}
ALL: dict[str, dict[str, Any]] = {
    "crosstab": {**WEIGHTED, "rows": "a", "columns": "b", "within": "c", "among": "all"},
    "compare": {**WEIGHTED, "outcome": "a", "groups": "b", "category": "yes", "among": "all"},
    "pairs": ANY,
    "test": {**ANY, "question": "a", "shares": {"yes": "0.3"}, "among": "all", "confidence": 0.9},
    "mixture": {**ANY, "question": "a", "formula": "~ b", "confidence": 0.9},
    "items": {**ANY, "questions": ["a", "b"], "model": "sum", "confidence": 0.9},
    "regression": {
        **WEIGHTED, "outcome": "a", "on": ["b"], "strata": False, "model": "logit",
        "errors": "sandwich", "among": "all", "declining": "common", "cluster": "c", "at": [{"b": "x"}, {"b": 3}],
        "scales": "numbers",
    },
    "weights": {**ANY, "margins": {"year": {"first": 0.5, "second": 0.5}}},
}  # fmt: skip
"""Every option of each kind, other than its default."""


INSTEAD = {
    "compare": {"outcome": "a", "groups": "arm", "against": "b"},
    "regression": {"formula": "a ~ b * c", "cluster_effect": "d", "points": 30},
    "test": {"question": "a", "mean": 3},
}
"""Options that go without others."""


@pytest.mark.parametrize("kind", KINDS_OF_REQUEST)
def test_every_option_arrives_as_it_was_sent(kind: str) -> None:
    """Those of a request class are the ones listed here."""
    assert {each.name for each in fields(KINDS_OF_REQUEST[kind])} == set(ALL[kind]) | set(INSTEAD.get(kind, {}))
    for options in (ALL[kind], INSTEAD.get(kind, ALL[kind])):
        sent = Job(parse_request(kind, options), long_columns(1), 0)
        assert unpack_job(b"".join(pack_job(sent))).asked == sent.asked


@pytest.mark.parametrize("kind", OPTIONS)
def test_job_arrives_as_it_was_sent(kind: str) -> None:
    """Request, survey, every column and every limit."""
    sent = Job(parse_request(kind, OPTIONS[kind]), long_columns(50), 7)
    found = unpack_job(b"".join(pack_job(sent)))

    assert (found.asked, found.memory) == (sent.asked, 7)
    assert (found.columns.revisions, found.columns.withheld) == (sent.columns.revisions, frozenset())
    assert list(found.columns.values) == list(sent.columns.values)
    for name, column in sent.columns.values.items():
        assert found.columns.values[name].dtype == column.dtype
        np.testing.assert_array_equal(found.columns.values[name], column)


def test_sentences_of_a_reply_can_still_be_translated() -> None:
    """Each keeps its pattern and its values, also within another one."""
    inner = Sentence("{n} of {variables}", n=3, variables=("a", "b"))
    sent = {"document": {"warnings": ["plain", Sentence("as {reason}", reason=inner)], "low": None, "at": {"x": 1.5}}}
    found = unpack_reply(pack_reply(sent))

    assert found == json.loads(json.dumps(sent))
    outer = found["document"]["warnings"][1]
    assert (outer.pattern, outer.values["reason"].values) == ("as {reason}", {"n": 3, "variables": ("a", "b")})


def test_half_a_message_is_the_end() -> None:
    """A process that was killed while it wrote has sent nothing."""
    stream = io.BytesIO()
    write_message(stream, b"ab", b"c")

    assert read_message(io.BytesIO(stream.getvalue())) == b"abc"
    with pytest.raises(EOFError):
        read_message(io.BytesIO(stream.getvalue()[:-1]))
