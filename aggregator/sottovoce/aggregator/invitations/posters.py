"""Make pages to print: a poster, and cards with personal links. The pages are self-contained and load nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from importlib.resources import files
from string import Template

from sottovoce.aggregator.i18n.translator import Words, only_here
from sottovoce.aggregator.institution import Institution
from sottovoce.aggregator.invitations.icon_array import IconArray, dots, least_protected, pictures
from sottovoce.aggregator.invitations.qr_codes import svg
from sottovoce.shared.by_hand.protection import LETTERS, protection_by
from sottovoce.shared.spec import Survey, TextMap

CARDS_ON_A_PAGE = 8

LONG_TITLE = 60
"""Characters; a longer title is set in smaller type, so that the poster fits on one page."""


@dataclass(frozen=True)
class PosterContent:
    """Content of posters and cards for a wave (from 0) of a survey's newest revision, in the language of ``words``."""

    survey: Survey
    wave: int
    words: Words
    institution: Institution = Institution()

    def text(self, texts: TextMap) -> str:
        """Return a text of the survey in the print's language, else in the survey's default, escaped for HTML."""
        return escape(self.words.text(texts, self.survey.default_language))

    def translate(self, key: str, **values: object) -> str:
        """Return a sentence of the catalogue, escaped for HTML."""
        return escape(self.words.translate(key, **values))

    @property
    def language_of_texts(self) -> str:
        """Language of the survey's texts in the print."""
        return self.words.language if self.words.language in self.survey.title else self.survey.default_language

    @property
    def closes(self) -> datetime | None:
        """Closing time of the wave; None if it has none."""
        return self.survey.waves[self.wave].closes


def style() -> str:
    """Return the style of posters and cards; the content security policy allows it by hash."""
    return files("sottovoce.aggregator.invitations").joinpath("poster.css").read_text(encoding="utf-8")


def poster(invitation: PosterContent, link: str) -> str:
    """Build a poster on one A4 page: title, researcher, QR code of the common link, and how answers are protected."""
    title = invitation.text(invitation.survey.title)
    size = "long" if len(title) > LONG_TITLE else "short"
    closes = invitation.closes
    needed = f" {invitation.translate('poster_invited')}" if invitation.survey.asks_for_invitation else ""
    until = f" {invitation.translate('letter_until', moment=invitation.words.moment(closes))}" if closes else ""
    body = (
        f'<main class="poster">{_institution(invitation.institution)}{_trial(invitation)}{_only_here(invitation, link)}'
        f'<h1 class="{size}" lang="{invitation.language_of_texts}" dir="auto">{title}</h1>{_who(invitation)}'
        f'<figure class="code" role="img" aria-label="{invitation.translate("invite_qr_of", link=link)}">'
        f"{svg(link)}</figure>"
        f'<p class="scan">{invitation.translate("poster_scan")}{needed}</p><p class="link" dir="ltr">{escape(link)}</p>'
        f"<p>{' '.join(map(invitation.translate, _protection(invitation.survey)))}</p>"
        f"{_pictures(invitation)}"
        f'<p class="quiet">{invitation.translate("letter_voluntary")}{until}</p></main>'
    )
    return _page(invitation, body)


def cards(invitation: PosterContent, links: Sequence[str]) -> str:
    """Build cards to cut out, eight on an A4 page, each with its own link."""
    made = [_card(invitation, link) for link in links]
    sheets = ("".join(made[first : first + CARDS_ON_A_PAGE]) for first in range(0, len(made), CARDS_ON_A_PAGE))
    body = "\n".join(f'<section class="sheet">{sheet}</section>' for sheet in sheets)
    return _page(invitation, f"<main>{body}</main>")


def _card(invitation: PosterContent, link: str) -> str:
    once = "card_once_blind" if invitation.survey.is_blind else "card_once"
    return (
        f'<article class="card"><figure role="img" aria-label="{invitation.translate("card_qr")}">{svg(link)}</figure>'
        f"<div>{_trial(invitation)}{_only_here(invitation, link)}"
        f'<p class="title" lang="{invitation.language_of_texts}" dir="auto">'
        f"{invitation.text(invitation.survey.title)}</p><p>{invitation.translate(once)}</p>"
        f'<p class="link" dir="ltr">{escape(link)}</p></div></article>'
    )


def _page(invitation: PosterContent, body: str) -> str:
    template = files("sottovoce.aggregator.invitations").joinpath("poster.html").read_text(encoding="utf-8")
    return Template(template).substitute(
        language=invitation.words.language,
        direction=invitation.words.direction,
        title=invitation.text(invitation.survey.title),
        style=style(),
        body=body,
    )


def _institution(institution: Institution) -> str:
    """Return logo and name as a line; "" without both."""
    logo = f'<img src="{escape(institution.logo)}" alt="" height="40"> ' if institution.logo else ""
    line = logo + escape(institution.name)
    return f'<p class="who" dir="auto">{line}</p>' if line else ""


def _trial(invitation: PosterContent) -> str:
    return f'<p class="trial">{invitation.translate("trial")}</p>' if invitation.survey.trial else ""


def _only_here(invitation: PosterContent, link: str) -> str:
    warning = only_here(link, invitation.words)
    return f'<p class="warning">{escape(warning)}</p>' if warning else ""


def _who(invitation: PosterContent) -> str:
    researcher = invitation.survey.document.get("researcher")
    if researcher is None:
        return ""
    lines = [invitation.text(researcher[key]) for key in ("institution", "name") if key in researcher]
    return f'<p class="who" dir="auto">{", ".join(lines)}</p>'


def _protection(survey: Survey) -> list[str]:
    """Choose the sentences about protection; invitation texts use the same ones."""
    hides = LETTERS[protection_by(survey)] if survey.private else "letter_unprotected"
    return [hides, "letter_arms"] if len(survey.groups) > 1 else [hides]


def _pictures(invitation: PosterContent) -> str:
    question = least_protected(invitation.survey)
    shown = [] if question is None else pictures(question)
    figures = "".join(_picture(invitation, each) for each in shown)
    least = f"<p>{invitation.translate('poster_least')}</p>" if len(invitation.survey.private) > 1 else ""
    return f'{least}<div class="pictures">{figures}</div>' if shown else ""


def _picture(invitation: PosterContent, hundred: IconArray) -> str:
    number = invitation.words.number(hundred.filled)
    shown_number = number if hundred.is_exact else invitation.words.translate("poster_about", number=number)
    caption = invitation.translate(f"poster_{hundred.truth}", number=shown_number)
    return f"<figure>{dots(hundred.filled)}<figcaption>{caption}</figcaption></figure>"
