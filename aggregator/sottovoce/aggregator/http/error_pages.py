"""Make the error pages for browsers, and the front page, in the reader's language.

A page quotes nothing of the request, and needs no script or other file. Programs and the form get problem documents.
"""

import base64
import hashlib
from collections.abc import Sequence
from datetime import date
from functools import cache
from html import escape

from sottovoce.aggregator.i18n.translator import LANGUAGES, accept_weights, direction, month_of, sections

KINDS = {
    "unknown_survey": "unknown_survey",
    "not_found": "not_found",
    "method_not_allowed": "method_not_allowed",
    "too_large": "too_large",
    "too_many": "too_many",
    "unauthorized": "forbidden",
    "forbidden": "not_allowed",
    "estimate_impossible": "impossible",
    "analysis_stopped": "impossible",
    "internal": "internal",
    "busy": "busy",
    "storage": "busy",
    "timeout": "busy",
}
"""Key of the page's text by code of the problem; other codes have the text ``malformed``."""

KINDS_OF_STAFF = {
    "unknown_survey": "staff_survey",
    "not_found": "staff_page",
    "still_open": "staff_open",
    "too_large": "staff_large",
    **dict.fromkeys(("busy", "storage", "timeout"), "staff_busy"),
}
"""Keys of texts for researchers, who have no letter with a link to open again; they precede ``KINDS``."""

STYLE = (
    ":root{color-scheme:light dark}"
    "body{max-width:36rem;margin:0 auto;padding:2rem 1rem;font:1.1rem/1.5 system-ui,sans-serif}"
    "h1{font-size:1.4rem;line-height:1.25}"
    "a{color:inherit}"
    "td,th{padding:.3rem min(.7rem,2vw);text-align:end}"
)

POLICY = (
    f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def wants_page(accept: str) -> bool:
    """Return True if an Accept header prefers HTML to JSON, as browsers do."""
    wishes = dict(accept_weights(accept))
    as_json = max(wishes.get("application/json", 0.0), wishes.get("application/problem+json", 0.0))
    return wishes.get("text/html", 0.0) > as_json


def problem_page(code: str, language: str, home: str = "") -> bytes:
    """Return the page for a code of ``problems.STATUS``; for researchers if ``home`` is the path of their list."""
    if not home:
        return _page(KINDS.get(code, "malformed"), language)
    title, *paragraphs = sentences(language)[KINDS_OF_STAFF.get(code) or KINDS.get(code, "staff_malformed")]
    return page_of(title, paragraphs, language, (home, sentences(language)["staff_home"][0]))


def front_page(language: str) -> bytes:
    """Return the page at ``/``: what this site is, that a respondent needs a link, and a link for researchers."""
    title, *paragraphs = sentences(language)["about"]
    return page_of(title, paragraphs, language, ("/dashboard/", sentences(language)["sign_in"][0]))


def calendar_page(language: str, day: date) -> bytes:
    """Return the page at ``/calendar``: a month, as on any wall."""
    title, table = month_of(day, language)
    return page_of(title, [], language).replace(b"</main>", f"{table}</main>".encode())


def headers(language: str) -> list[tuple[str, str]]:
    """Return the headers of a reply with such a page."""
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
    """Return a self-contained page from plain texts; ``way`` is the path and text of a link to continue."""
    title, *paragraphs = map(escape, (title, *paragraphs))
    content = "".join(f"<p>{paragraph}</p>\n" for paragraph in paragraphs)
    content += f'<p><a href="{escape(way[0])}">{escape(way[1])}</a></p>\n' if way else ""
    return (
        f'<!doctype html>\n<html lang="{language}" dir="{direction(language)}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{title}</title>\n<link rel="icon" href="data:,">\n<style>{STYLE}</style>\n</head>\n'
        f"<body>\n<main>\n<h1>{title}</h1>\n{content}</main>\n</body>\n</html>\n"
    ).encode()


@cache
def sentences(language: str) -> dict[str, list[str]]:
    """Return heading and paragraphs by key of the text, in one of ``LANGUAGES``."""
    return sections(language)["error_pages"]
