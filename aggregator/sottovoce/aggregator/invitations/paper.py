"""Print a questionnaire whose answers people hide by themselves: with a coin, a die or a fact of their own."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

_STYLE = (
    "body{font:12pt/1.4 sans-serif;max-width:17cm;margin:1.5cm auto;padding:0 1cm}"
    "section{break-inside:avoid;border-top:1px solid;padding:.5cm 0}li{list-style:none;margin:.2cm 0}"
    "ul{padding-inline-start:0}h2{font-size:1em}"
)


@dataclass(frozen=True)
class PaperItem:
    """Item on paper: its text, paragraphs to read and do before the answer, and options to tick, none for a note."""

    label: str
    lines: Sequence[str]
    options: Sequence[str]


def questionnaire(title: str, intro: Sequence[str], items: Sequence[PaperItem], language: str, direction: str) -> str:
    """Return the page to print; ``language`` is the BCP 47 tag of the texts, ``direction`` ``ltr`` or ``rtl``."""
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{_STYLE}</style>'
    texts = "".join(_paragraph(text) for text in intro)
    body = f"<main><h1>{html.escape(title)}</h1>{texts}{''.join(map(_section, items))}</main>"
    opening = f'<!doctype html>\n<html lang="{language}" dir="{direction}">'
    return f"{opening}<head>{head}</head><body>{body}</body></html>\n"


def _section(item: PaperItem) -> str:
    boxes = "".join(f"<li>\u2610 {html.escape(option)}</li>" for option in item.options)
    lines = "".join(map(_paragraph, item.lines))
    return f"<section><h2>{html.escape(item.label)}</h2>{lines}{f'<ul>{boxes}</ul>' if boxes else ''}</section>"


def _paragraph(text: str) -> str:
    return f"<p>{html.escape(text.strip())}</p>"
