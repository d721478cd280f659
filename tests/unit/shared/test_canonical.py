"""The one spelling of a document."""

import pytest
from sottovoce.shared import canonical


def test_dump_sorts_keys_wastes_no_space_and_is_read_back():
    assert '{"a":[1,true,null],"b":{"c":"é","d":""}}'.encode() == canonical.dump(
        {"b": {"d": "", "c": "é"}, "a": [1, True, None]}
    )

    document = {"n": [2**53 - 1, -(2**53 - 1), 0], "t": "\u0000\U0001f600\n", "b": [True, False, None]}

    assert document == canonical.load(canonical.dump(document))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"\xff{}", "UTF-8"), (b"{", "JSON"), (b"[]", "object"), (b'{"a":1,"a":1}', "duplicate"),
        (b'{"a":1.0}', "whole"),
        (b'{"a":1e2}', "whole"), (b'{"a":NaN}', "whole"), (b'{"a":-Infinity}', "whole"), (b'{"a":-0}', "beyond"),
        (b'{"a":9007199254740992}', "beyond"), (b'{"a":' + b"9" * 5000 + b"}", "beyond"),
        (b'{"a":"\\ud800"}', "Unicode"),
        (b'{"\\udfff":1}', "Unicode"), (b'{"a":' + b"[" * 40 + b"]" * 40 + b"}", "deep"),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "deep"), (b"\xef\xbb\xbf{}", "JSON|BOM"),
    ],
)  # fmt: skip
def test_load_refuses_what_two_readers_would_read_differently(body, reason):
    """Each of these has bitten some pair of parsers."""
    with pytest.raises(ValueError, match=reason):
        canonical.load(body)
