"""Values as bytes: every report comes back, and takes no more room than it needs."""

import pytest
from hypothesis import given, strategies as st
from sottovoce.aggregator.storage.pack_values import pack, unpack

VALUES = st.one_of(
    st.none(), st.integers(0, 300), st.integers(0, 2**53 - 1), st.sampled_from([254, 255, 65534, 65535, 2**32 - 1])
)
REPORT = st.lists(VALUES, max_size=12).map(tuple)


@given(REPORT)
def test_report_comes_back_from_its_bytes(values: tuple[int | None, ...]) -> None:
    """Nulls, no values at all, and the edges of every width."""
    assert unpack(pack(values)) == values


@pytest.mark.parametrize(
    ("values", "packed"),
    [
        ((0, 1, 254), "01 00 01 fe"),
        ((None, 3), "01 ff 03"),
        ((255, None), "02 00ff ffff"),
        ((65534,), "02 fffe"),
        ((65535, 0), "04 0000ffff 00000000"),
        ((2**53 - 1, None), "08 001fffffffffffff ffffffffffffffff"),
        ((), "01"),
    ],
)
def test_bytes_are_as_few_as_the_largest_value_needs(values: tuple[int | None, ...], packed: str) -> None:
    """The form that a database holds for years."""
    assert pack(values) == bytes.fromhex(packed)


@pytest.mark.parametrize("values", [(2**64,), (2**64 - 1,), (-1,), (0, -1, 300)])
def test_value_that_fits_no_column_is_refused(values: tuple[int, ...]) -> None:
    """Neither cut off nor taken for null."""
    with pytest.raises(OverflowError):
        pack(values)
