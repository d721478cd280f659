"""Slugs: short names for links, conditions and files, made from the researcher's texts."""

import re
import unicodedata
from collections.abc import Collection

LONGEST = 40


def short_name(text: str, otherwise: str, joiner: str = "_") -> str:
    """
    Make a slug from the Latin letters and digits of a text, in lower case.

    Args:
        text: text in any language.
        otherwise: result for a text without Latin letters and digits.
        joiner: separator of words.
    """
    plain = unicodedata.normalize("NFKD", text[:400]).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", joiner, plain).strip(joiner)[:LONGEST]
    return words.strip(joiner) or otherwise


def is_given(name: str) -> bool:
    """Return whether a question's name was chosen, and is not the page's default of ``q`` and a number."""
    return not re.fullmatch(r"q[0-9]+", name, re.ASCII)


def free_name(wanted: str, taken: Collection[str], joiner: str = "_") -> str:
    """
    Return the name if it is free, else the name with the first number from 2 that makes it free.

    Args:
        wanted: the wanted name.
        taken: names in use.
        joiner: separator before the number.
    """
    if wanted not in taken:
        return wanted
    return next(name for number in range(2, len(taken) + 3) if (name := f"{wanted}{joiner}{number}") not in taken)
