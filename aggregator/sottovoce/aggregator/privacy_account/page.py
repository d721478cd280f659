"""Render the privacy account as one HTML page for printing: inline style, no script, no external resources."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from html import escape
from importlib.resources import files
from string import Template

from sottovoce.aggregator.export.flow_chart import flow_chart
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.invitations.icon_array import IconArray, dots
from sottovoce.aggregator.privacy_account.document import Document
from sottovoce.aggregator.privacy_account.text import (
    BLOCK_COLUMNS,
    at_least,
    at_most,
    block_rows,
    caveat,
    conditions,
    digest_in_words,
    percent,
    totals,
)
from sottovoce.shared.accounting import BELIEF_BEFORE, percent_after
from sottovoce.shared.rational import show_epsilon
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


ALL_SUMS = ("question", "report", "household", "panel")


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
    facts = "".join(_fact(who, epsilon) for which, who, epsilon in totals(document, words) if which in sums)
    left_out = caveat(document, words)
    costs = _paragraph(at_worst(document, words)) if document["report"]["beliefs"] else ""
    costs += f'<dl class="facts">{facts}</dl>' if facts else ""
    costs += f"<p><strong>{escape(left_out)}</strong></p>" if left_out else ""
    costs += _paragraph(words.translate("privacy_epsilon"))
    questions = "".join(_question(number, row, words) for number, row in enumerate(document["questions"], 1))
    parts = [
        ("privacy_costs", costs),
        ("flow_title", flow_chart(survey, words, document["language"])),
        ("privacy_questions", questions),
        ("privacy_block", _blocks(document, words)),
        ("privacy_together", _together(document, words)),
        ("privacy_conditions", "".join(map(_paragraph, conditions(document, words)))),
        ("privacy_stored", _list(document["stored"])),
        ("privacy_limits", _list(document["limits"])),
        *(
            (heading, "".join(map(_paragraph, sentences)))
            for heading, sentences in study(survey, document["language"], words)
        ),
    ]
    return "\n".join(
        f"<section><h2>{escape(words.translate(heading))}</h2>{content}</section>"
        for heading, content in parts
        if content
    )


def at_worst(document: Document, words: Words) -> str:
    """Say in a sentence what a whole report can change at most."""
    after = percent_after(document["report"]["epsilon"])
    before = words.percent(BELIEF_BEFORE, 0)
    return words.translate("privacy_at_worst", before=before, after=words.percent(Fraction(after, 100), 0))


def style() -> str:
    """Return the CSS of the page."""
    return _read("page.css")


def _read(name: str) -> str:
    return files("sottovoce.aggregator.privacy_account").joinpath(name).read_text(encoding="utf-8")


def _fact(who: str, epsilon: float) -> str:
    return f"<div><dt>{escape(who)}</dt><dd><small>epsilon</small> {show_epsilon(epsilon)}</dd></div>"


def _question(number: int, row: Document, words: Words) -> str:
    odds = _paragraph(row["odds"]) if row["odds"] else ""
    label = f'<h3 dir="auto"><span class="number">{number}</span> {escape(row["label"])}</h3>'
    if row["beliefs"] is None:
        return f'<article class="public">{label}{odds}</article>'
    if row["yes_no"] is None:
        return f"<article>{label}{odds}{_beliefs('privacy_about_answer', row['beliefs'], words)}</article>"
    columns = ("privacy_about_yes", "privacy_after_yes", "privacy_after_no")
    rows = [(entry["before"], entry["after_yes"], entry["after_no"]) for entry in row["yes_no"]]
    table = _table(columns, rows, words, (percent, percent))
    return f"<article>{label}{odds}{_pictures(row, words)}{table}</article>"


def _blocks(document: Document, words: Words) -> str:
    """Return a table with a row for each block, each question in it and the whole report; "" without blocks."""
    found = block_rows(document, words)
    if not found:
        return ""
    head = "".join(f'<th scope="col">{escape(words.translate(heading))}</th>' for heading in BLOCK_COLUMNS)
    rows = "".join(
        f'<tr><th scope="row" dir="auto">{escape(who)}</th>'
        + "".join(f"<td>{escape(figure) or '–'}</td>" for figure in figures)
        + "</tr>"
        for who, *figures in found
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _together(document: Document, words: Words) -> str:
    beliefs = document["report"]["beliefs"]
    return "" if beliefs is None else _beliefs("privacy_about_report", beliefs, words)


def _beliefs(about: str, beliefs: list[Document], words: Words) -> str:
    rows = [(entry["before"], entry["at_most"], entry["at_least"]) for entry in beliefs]
    return _table((about, "privacy_at_most", "privacy_at_least"), rows, words, (at_most, at_least))


def _table(
    columns: tuple[str, ...],
    rows: Sequence[tuple[float, ...]],
    words: Words,
    shows: Sequence[Callable[[float, Words], str]],
) -> str:
    """Return a table of probabilities: in each row the prior, then the others, which ``shows`` format."""
    head = "".join(f'<th scope="col">{escape(words.translate(heading))}</th>' for heading in columns)
    body = "".join(
        f'<tr><th scope="row">{words.percent(before, 0)} {escape(words.translate("privacy_before"))}</th>'
        + "".join(f"<td>{escape(show(share, words))}</td>" for share, show in zip(after, shows, strict=True))
        + "</tr>"
        for before, *after in rows
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


def _list(sentences: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>"


def _paragraph(text: str) -> str:
    return f'<p dir="auto">{escape(text)}</p>'
