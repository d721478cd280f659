"""Render the privacy account as one HTML page for printing: inline style, no script, no external resources."""

from collections.abc import Sequence
from fractions import Fraction
from html import escape
from importlib.resources import files
from string import Template

from sottovoce.aggregator.export.flow_chart import flow_chart
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.invitations.icon_array import IconArray, dots
from sottovoce.aggregator.privacy_account.document import Document
from sottovoce.aggregator.privacy_account.text import (
    ALL_SUMS,
    AccountBlock,
    Caveat,
    digest_in_words,
    question_blocks,
    sections,
)
from sottovoce.shared.spec import Survey


def study(survey: Survey, language: str, words: Words) -> Sequence[tuple[str, Sequence[str]]]:
    """Return the sections about the study in order, as pairs of heading key and paragraphs."""
    return [
        ("ethics_taking_part", [words.translate("privacy_voluntary"), *_dates(survey, words)]),
        ("ethics_consent", (_text(survey, "consent", language) or words.translate("privacy_no_consent")).split("\n\n")),
        ("ethics_notice", _notice(survey, language, words)),
    ]


def _dates(survey: Survey, words: Words) -> list[str]:
    window = [("letter_opens", survey.opens), ("letter_until", survey.closes)]
    sentences = [words.translate(key, moment=words.moment(moment)) for key, moment in window if moment]
    if survey.delete_on is None:
        return [*sentences, words.translate("privacy_no_deletion")]
    return [*sentences, words.translate("ethics_deleted", day=words.day(survey.delete_on))]


def _notice(survey: Survey, language: str, words: Words) -> list[str]:
    """Return controller, purpose, legal basis and rights (GDPR, Article 13), then the survey's own notice."""
    who = ", ".join(filter(None, (_researcher_text(survey, key, language) for key in ("name", "institution"))))
    contact = survey.document.get("researcher", {}).get("contact")
    purpose = _text(survey, "description", language) or _text(survey, "title", language)
    sentences = [
        words.translate("privacy_controller", who=who) if who else words.translate("privacy_no_controller"),
        words.translate("letter_ask", contact=contact) if contact else "",
        _researcher_text(survey, "ethics", language),
        words.translate("privacy_purpose", purpose=purpose),
        words.translate("privacy_basis" if _text(survey, "consent", language) else "privacy_no_basis"),
        words.translate("privacy_rights"),
        *_text(survey, "notice", language).split("\n\n"),
    ]
    return [text for text in sentences if text]


def _text(survey: Survey, key: str, language: str) -> str:
    return survey.text(survey.document.get(key, {}), language)


def _researcher_text(survey: Survey, key: str, language: str) -> str:
    return survey.text(survey.document.get("researcher", {}).get(key, {}), language)


def page(document: Document, survey: Survey, words: Words, sums: Sequence[str] = ALL_SUMS) -> str:
    """Return the page of a privacy account as HTML; ``sums`` are the totals to show, from ``ALL_SUMS``."""
    values = {
        "title": document["title"],
        "language_of_texts": document["language"],
        "language": words.language,
        "direction": words.direction,
        "version": words.translate("privacy_version", name=document["survey"], revision=document["revision"]),
        "digest": digest_in_words(document, words),
        "kind": words.translate("privacy_kind"),
        "made": words.translate("privacy_made"),
    }
    return Template(_read("page.html")).substitute(
        {key: escape(value) for key, value in values.items()},
        trial=f"<p><strong>{escape(words.translate('trial'))}</strong></p>" if "trial" in document else "",
        style=_read("page.css"),
        body=body(document, survey, words, sums),
    )


def body(document: Document, survey: Survey, words: Words, sums: Sequence[str] = ALL_SUMS) -> str:
    """Return all sections of ``page`` as HTML, with headings from level 2."""
    made = {heading: "".join(map(_html, blocks)) for heading, blocks in sections(document, words, sums)}
    rows = enumerate(document["questions"], 1)
    made["privacy_questions"] = "".join(_question(number, row, words) for number, row in rows)
    paragraphs = study(survey, document["language"], words)
    parts = [
        ("privacy_costs", made.pop("privacy_costs")),
        ("flow_title", flow_chart(survey, words, document["language"])),
        *made.items(),
        *((heading, "".join(map(_html, sentences))) for heading, sentences in paragraphs),
    ]
    return "\n".join(
        f"<section><h2>{escape(words.translate(heading))}</h2>{content}</section>"
        for heading, content in parts
        if content
    )


def style() -> str:
    """Return the CSS of the page."""
    return _read("page.css")


def _read(name: str) -> str:
    return files("sottovoce.aggregator.privacy_account").joinpath(name).read_text(encoding="utf-8")


def _question(number: int, row: Document, words: Words) -> str:
    label = f'<h3 dir="auto"><span class="number">{number}</span> {escape(row["label"])}</h3>'
    blocks = [_html(block) for block in question_blocks(row, words)]
    pictures = "" if row["yes_no"] is None else _pictures(row, words)
    kind = ' class="public"' if row["beliefs"] is None else ""
    return f"<article{kind}>{label}{''.join(blocks[:-1])}{pictures}{''.join(blocks[-1:])}</article>"


def _html(block: AccountBlock) -> str:
    if isinstance(block, Caveat):
        return f"<p><strong>{escape(block)}</strong></p>"
    if isinstance(block, str):
        return f'<p dir="auto">{escape(block)}</p>'
    if isinstance(block, list):
        return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in block) + "</ul>"
    if not block.headings:
        facts = (f"<div><dt>{escape(who)}</dt><dd><small>epsilon</small> {told}</dd></div>" for who, told in block.rows)
        return f'<dl class="facts">{"".join(facts)}</dl>'
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in block.headings)
    body = "".join(
        f'<tr><th scope="row" dir="auto">{escape(who)}</th>'
        + "".join(f"<td>{escape(figure) or '–'}</td>" for figure in figures)
        + "</tr>"
        for who, *figures in block.rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _pictures(row: Document, words: Words) -> str:
    """Return two icon arrays of 100 people, one for each true answer, with those who report yes filled in."""
    hundreds = (IconArray(truth, Fraction(row["mechanism"][key])) for truth, key in (("yes", "a"), ("no", "b")))
    return f'<div class="pictures">{"".join(_picture(hundred, words) for hundred in hundreds)}</div>'


def _picture(hundred: IconArray, words: Words) -> str:
    number = words.number(hundred.filled)
    filled = number if hundred.is_exact else words.translate("poster_about", number=number)
    caption = escape(words.translate(f"privacy_hundred_{hundred.truth}", filled=filled))
    return f"<figure>{dots(hundred.filled)}<figcaption>{caption}</figcaption></figure>"
