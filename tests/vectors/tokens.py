"""Tokens as people type them, with what both clients read; the check letters are worked out here by long division."""

from typing import Any

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
TOKENS = ["0" * 16, "Z" * 16, "0123456789ABCDEF", "GHJKMNPQRSTVWXYZ", "7V3N0A9QK2M4XR8E"]
SURVEYS = ["x", "affairs", "exam-2026_b", "s" * 64]


def check_letters(survey: str, token: str) -> str:
    """Of the number that ``survey/token`` spells to the base 37, the rest by 1021, in base 32."""
    text = f"{survey}/{token}"
    rest = sum(ord(letter) * 37 ** (len(text) - 1 - place) for place, letter in enumerate(text)) % 1021
    return ALPHABET[rest // 32] + ALPHABET[rest % 32]


def token_vectors() -> list[dict[str, Any]]:
    """The survey's name, the text, and the token in it; None for what both refuse."""
    return [
        {"survey": survey, "text": text, "token": token}
        for survey in SURVEYS
        for token in TOKENS
        for text in (token, token + check_letters(survey, token))
    ] + [{"survey": "affairs", "text": text, "token": token} for text, token in _spellings()]


def _spellings() -> list[tuple[str, str | None]]:
    token = "0123456789ABCDEF"
    whole = token + check_letters("affairs", token)
    half = whole[9:]
    return [
        (whole.lower(), token),
        (f"-0123-4567-8{half}-", token),
        (f"oL2345678{half}", token),
        (f"Oi2345678{half.lower()}", token),
        ("oil0-oil0-oil0-oil0", "0110" * 4),
        (token + check_letters("affair", token), None),
        (whole[:-1], None),
        (whole + "0", None),
        (whole[1:] + whole[0], None),
        (whole[:-2] + whole[-1] + whole[-2], None),
        (f" {whole}", None),
        (f"{whole}\n", None),
        (f"U{whole[1:]}", None),
        # Their capitals are I and S; no keyboard types them for a token.
        (f"0\u0131{whole[2:]}", None),
        (f"\u017f{'S' * 15}", None),
        ("\uff10" * 16, None),
        ("\u0660" * 16, None),
        ("", None),
        ("-", None),
        ("0" * 15, None),
        ("0" * 17, None),
        ("0" * 19, None),
    ]
