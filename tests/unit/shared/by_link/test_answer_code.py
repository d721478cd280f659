"""Codes of reports: what is edited is refused, and nothing else is."""

import hashlib

import pytest
from sottovoce.shared.by_link.answer_code import LETTERS, MOST_LETTERS, code_length, read_code, write_code

DIGEST = hashlib.sha256(b"question").hexdigest()
CODES = 10_000


def test_report_and_once_are_read_back_from_every_code() -> None:
    """As a person may type it: in small letters, with spaces."""
    for report in (None, 0, 1, 2):
        for once in range(3):
            code = write_code(DIGEST, 3, report, once)
            assert len(code) == code_length(3) <= MOST_LETTERS
            assert read_code(f" {code[:4]} {code[4:].lower()} ", DIGEST, 3) == (report, once)


def test_no_code_with_one_letter_flipped_or_two_exchanged_is_accepted() -> None:
    """Of 10,000 codes, each with one letter and one exchange that differ from code to code."""
    refused = wrong = 0
    for number in range(CODES):
        code = write_code(hashlib.sha256(str(number).encode()).hexdigest(), 2, number % 2, number % 3)
        place = number % (len(code) - 1)
        other = LETTERS[(LETTERS.index(code[place]) + 1 + number // 20 % 19) % 20]
        exchanged = code[:place] + code[place + 1] + code[place] + code[place + 2 :]
        for edited in {f"{code[:place]}{other}{code[place + 1 :]}", exchanged} - {code}:
            wrong += 1
            with pytest.raises(ValueError, match="edited"):
                read_code(edited, hashlib.sha256(str(number).encode()).hexdigest(), 2)
            refused += 1
    assert refused == wrong > CODES


@pytest.mark.parametrize("text", ["", "yes", "A" * 15, "B" * 25, "B" * 15, "éé"])
def test_other_texts_are_no_codes(text: str) -> None:
    """Whatever stands in the cell; the message repeats none of it."""
    with pytest.raises(ValueError, match="no code of this question"):
        read_code(text, DIGEST, 2)


def test_code_of_another_question_is_refused() -> None:
    """Its check is right, and its digest another one."""
    code = write_code(hashlib.sha256(b"other").hexdigest(), 2, 1, 1)
    with pytest.raises(ValueError, match="no code of this question"):
        read_code(code, DIGEST, 2)
