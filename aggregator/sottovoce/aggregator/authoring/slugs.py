"""Short names, for links, conditions and files, made of what a researcher has written."""

import re
import unicodedata
from collections.abc import Collection

LONGEST = 40


def short_name(text: str, otherwise: str, joiner: str = "_") -> str:
    """
    The Latin letters and digits of a text, in lower case.

    Args:
        text: in any language.
        otherwise: the name of a text that has none.
        joiner: stands between words.
    """
    plain = unicodedata.normalize("NFKD", text[:400]).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", joiner, plain).strip(joiner)[:LONGEST]
    return words.strip(joiner) or otherwise


def is_given(name: str) -> bool:
    """Whether a question was named by somebody, and not ``q`` and a number by the page."""
    return not re.fullmatch(r"q[0-9]+", name, re.ASCII)


def free_name(wanted: str, taken: Collection[str], joiner: str = "_") -> str:
    """
    The name itself, or with the first number that makes it free.

    Args:
        wanted: a name.
        taken: names that are given.
        joiner: stands before the number.
    """
    if wanted not in taken:
        return wanted
    return next(name for number in range(2, len(taken) + 3) if (name := f"{wanted}{joiner}{number}") not in taken)
