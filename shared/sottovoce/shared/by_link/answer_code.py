"""Codes that carry randomized answers through a field that people see: letters without vowels, which read as nothing.

    number = ((digest * 3 + once) * (size + 1) + report + 1) * 2^20 + check,   report -1 where nothing was answered

Written with 20 letters as digits. ``digest`` are the first 40 bits of the question's, ``size`` is the number of reports
it can have. The check makes the number a multiple of a prime, so that no change of one letter, and no exchange of two
neighbours, gives a code.
"""

LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
MOST_LETTERS = 24
"""Of codes that people are to copy."""

ONCE = ("no", "device", "visit")
"""Where a draw was kept, by its number in a code."""

_CHECK = 2**20
_PRIME = 1_048_573
"""The largest prime below ``_CHECK``."""


def code_length(size: int) -> int:
    """Return the number of letters of a question's codes.

    Args:
        size: number of its reports.
    """
    most, length = 2**40 * len(ONCE) * (size + 1) * _CHECK, 0
    while len(LETTERS) ** length < most:
        length += 1
    return length


def write_code(digest: str, size: int, report: int | None, once: int) -> str:
    """Return the code of a report.

    Args:
        digest: of the question, in hexadecimal digits.
        size: number of its reports.
        report: from 0 to below ``size``; None if nothing was answered.
        once: place in ``ONCE``.
    """
    held = (int(digest[:10], 16) * len(ONCE) + once) * (size + 1) + (0 if report is None else report + 1)
    number = held * _CHECK + -held * _CHECK % _PRIME
    letters = ""
    for _ in range(code_length(size)):
        number, place = divmod(number, len(LETTERS))
        letters = LETTERS[place] + letters
    return letters


def read_code(text: str, digest: str, size: int) -> tuple[int | None, int]:
    """Return report and place in ``ONCE`` of a code; spaces and small letters do not count.

    Args:
        text: as the host stored it.
        digest: of the question.
        size: number of its reports.

    Raises:
        ValueError: it is no code of this question, or a letter of it was changed.
    """
    letters = "".join(text.split()).upper()
    number = 0
    for letter in letters if set(letters) <= set(LETTERS) and len(letters) == code_length(size) else "":
        number = number * len(LETTERS) + LETTERS.index(letter)
    rest, report = divmod(number // _CHECK, size + 1)
    found, once = report - 1 if report else None, rest % len(ONCE)
    if letters != write_code(digest, size, found, once):
        raise ValueError("is no code of this question, or was edited")
    return found, once
