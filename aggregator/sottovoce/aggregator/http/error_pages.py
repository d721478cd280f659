"""
What people see in the place of a problem document, and at the bare address: one page in their language.

A page says what happened and what to do, repeats nothing that was sent, and needs nothing else: no script, no other
file. Programs, and the form itself, ask for anything or for JSON, and never get one.
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files

from sottovoce.aggregator.i18n.languages import LANGUAGES, accept_weights

_RIGHT_TO_LEFT = frozenset({"ar"})

KINDS = {
    "unknown_survey": "unknown_survey",
    "not_found": "not_found",
    "method_not_allowed": "method_not_allowed",
    "too_large": "too_large",
    "too_many": "too_many",
    "unauthorized": "forbidden",
    "forbidden": "not_allowed",
    "estimate_impossible": "impossible",
    "internal": "internal",
    "busy": "busy",
    "storage": "busy",
    "timeout": "busy",
}
"""What a person is told, by the code that a program gets; of every other code, that the request was not understood."""

KINDS_OF_STAFF = {
    "unknown_survey": "staff_survey",
    "not_found": "staff_page",
    "still_open": "staff_open",
    "too_large": "staff_large",
}
"""What researchers are told in another way on their own pages: they have no letter with a link to open again."""

STYLE = (
    ":root{color-scheme:light dark}"
    "body{max-width:36rem;margin:0 auto;padding:2rem 1rem;font:1.1rem/1.5 system-ui,sans-serif}"
    "h1{font-size:1.4rem;line-height:1.25}"
)

POLICY = (
    f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def wants_page(accept: str) -> bool:
    """Whether a person's browser asks: it names HTML, and prefers it to JSON."""
    wishes = dict(accept_weights(accept))
    as_json = max(wishes.get("application/json", 0.0), wishes.get("application/problem+json", 0.0))
    return wishes.get("text/html", 0.0) > as_json


def problem_page(code: str, language: str, home: str = "") -> bytes:
    """
    The page for a code of ``problems.STATUS``.

    Args:
        code: what went wrong.
        language: one of ``LANGUAGES``.
        home: of researchers, where their list of surveys is; "" of everybody else.
    """
    if not home:
        return _page(KINDS.get(code, "malformed"), language)
    title, *paragraphs = sentences(language)[KINDS_OF_STAFF.get(code) or KINDS.get(code, "staff_malformed")]
    return page_of(title, paragraphs, language, (home, sentences(language)["staff_home"][0]))


def front_page(language: str) -> bytes:
    """What stands at the bare address: what this is, and that a link is needed."""
    return _page("about", language)


def headers(language: str) -> list[tuple[str, str]]:
    """What the reply with such a page says of it."""
    return [
        ("Content-Type", "text/html; charset=utf-8"),
        ("Content-Language", language),
        ("Content-Security-Policy", POLICY),
    ]


def _page(kind: str, language: str) -> bytes:
    title, *paragraphs = sentences(language)[kind]
    return page_of(title, paragraphs, language)


def page_of(
    title: str, paragraphs: Sequence[str], language: str = LANGUAGES[0], way: tuple[str, str] | None = None
) -> bytes:
    """
    A page that needs nothing else.

    Args:
        title: its heading, as plain text like all of it.
        paragraphs: what it says.
        language: one of ``LANGUAGES``, in which all of that is.
        way: an address at which to go on, and what it is called.
    """
    title, *paragraphs = map(escape, (title, *paragraphs))
    direction = "rtl" if language in _RIGHT_TO_LEFT else "ltr"
    told = "".join(f"<p>{paragraph}</p>\n" for paragraph in paragraphs)
    told += f'<p><a href="{escape(way[0])}">{escape(way[1])}</a></p>\n' if way else ""
    return (
        f'<!doctype html>\n<html lang="{language}" dir="{direction}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{title}</title>\n<link rel="icon" href="data:,">\n<style>{STYLE}</style>\n</head>\n'
        f"<body>\n<main>\n<h1>{title}</h1>\n{told}</main>\n</body>\n</html>\n"
    ).encode()


@cache
def sentences(language: str) -> dict[str, list[str]]:
    """A heading and paragraphs by kind, in one of ``LANGUAGES``."""
    text = files("sottovoce.aggregator.http").joinpath(f"sentences/{language}.json").read_text(encoding="utf-8")
    return dict(json.loads(text))
