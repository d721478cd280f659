"""Render the privacy account as one HTML page for printing: inline style, no script, no external resources."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from importlib.resources import files

from jinja2 import Environment, Template
from sottovoce.aggregator.export.flow_chart import flow_chart
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.invitations.icon_array import IconArray, dots
from sottovoce.aggregator.privacy_account.document import Document
from sottovoce.aggregator.privacy_account.text import ALL_SUMS, digest_in_words, question_blocks, sections
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
    shown = {"digest": digest_in_words(document, words), "style": _read("page.css")}
    return _template().render(document=document, **shown, **_parts(document, survey, words, sums))


def body(document: Document, survey: Survey, words: Words, sums: Sequence[str] = ALL_SUMS) -> str:
    """Return all sections of ``page`` as HTML, with headings from level 2."""
    return _template().render(**_parts(document, survey, words, sums))


def _parts(document: Document, survey: Survey, words: Words, sums: Sequence[str]) -> dict[str, object]:
    """Return what the template needs of the sections; an empty one is left out."""
    made: dict[str, Sequence[object]] = dict(sections(document, words, sums))
    made["privacy_questions"] = [(row, question_blocks(row, words), _hundreds(row)) for row in document["questions"]]
    language = document["language"]
    parts = [
        ("privacy_costs", made.pop("privacy_costs")),
        ("flow_title", flow_chart(survey, words, language)),
        *made.items(),
        *study(survey, language, words),
    ]
    return {"words": words, "say": words.translate, "dots": dots, "parts": parts}


def _hundreds(row: Document) -> list[IconArray]:
    """Return icon arrays of 100 people for each true answer to a yes/no question, those who report yes filled in."""
    truths = () if row["yes_no"] is None else (("yes", "a"), ("no", "b"))
    return [IconArray(truth, Fraction(row["mechanism"][key])) for truth, key in truths]


def _read(name: str) -> str:
    return files("sottovoce.aggregator.privacy_account").joinpath(name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    return Environment(autoescape=True).from_string(_read("page.html"))
