"""What goes to the process of an analysis and back is what came in."""

import io
import json

import numpy as np
import pytest
from sottovoce.aggregator.analysis.jobs.messages import (
    Job,
    pack_job,
    pack_reply,
    read_message,
    unpack_job,
    unpack_reply,
    write_message,
)
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.shared.sentence import Sentence

from tests.unit.aggregator.analysis.closed_surveys import OPTIONS
from tests.unit.aggregator.analysis.jobs.long_model import long_columns

ALL = {
    "crosstab": {"within": "year", "margins": {"year": {"first": "0.5", "second": 1}}, "wave": 0},
    "compare": {"category": "yes"},
    "regression": {"model": "logit", "errors": "sandwich", "cluster": "year", "at": [{"year": "first"}, {"year": 3}]},
}
"""The options that have a default, of each kind."""


@pytest.mark.parametrize("kind", OPTIONS)
def test_job_arrives_as_it_was_sent(kind: str) -> None:
    """Request, survey, every column and every limit."""
    sent = Job(parse_request(kind, OPTIONS[kind] | ALL.get(kind, {})), long_columns(50), 7)
    found = unpack_job(b"".join(pack_job(sent)))

    assert (found.asked, found.memory) == (sent.asked, 7)
    assert (found.columns.revisions, found.columns.apart) == (sent.columns.revisions, frozenset())
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
