"""Numbers as people type them in the terminal."""

import pytest
from sottovoce.client.terminal.interview import typed_number


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("12.5", "12.5"), ("12,5", "12.5"), (".35", "0.35"), ("-,5", "-0.5"), ("5.", "5"), ("+7", "7"), ("007", "7"),
        ("٣٫٥", "3.5"), ("۱۲", "12"), ("\u22122", "-2"), (" 3 ", "3"), ("0", "0"), ("2026-01-31", "2026-01-31"),
    ],
)  # fmt: skip
def test_number_is_read_as_it_was_meant(text: str, read: str) -> None:
    """Comma or point before the tenths, digits of any script, and what people leave out; dates stay as they are."""
    assert typed_number(text) == read


@pytest.mark.parametrize("text", ["1,000", "1,2,3", "1e1", "", ".", "-", "²", "½"])
def test_what_may_mean_two_numbers_is_left_as_it_is(text: str) -> None:
    """Such as thousands: a thousand is never taken for one; the question then asks again."""
    assert not typed_number(text).replace(".", "", 1).isdecimal()
