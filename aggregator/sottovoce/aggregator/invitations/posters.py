"""Make pages to print: a poster, and cards with personal links. The pages are self-contained and load nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from jinja2 import Environment, Template
from sottovoce.aggregator.i18n.translator import Words, only_here
from sottovoce.aggregator.institution import Institution
from sottovoce.aggregator.invitations.icon_array import dots, least_protected, pictures
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
        """Return a text of the survey in the print's language, else in the survey's default."""
        return self.words.text(texts, self.survey.default_language)

    @property
    def language_of_texts(self) -> str:
        """Language of the survey's texts in the print."""
        return self.words.language if self.words.language in self.survey.title else self.survey.default_language


def style() -> str:
    """Return the style of posters and cards; the content security policy allows it by hash."""
    return files("sottovoce.aggregator.invitations").joinpath("poster.css").read_text(encoding="utf-8")


def poster(invitation: PosterContent, link: str) -> str:
    """Build a poster on one A4 page: title, researcher, QR code of the common link, and how answers are protected."""
    survey, question = invitation.survey, least_protected(invitation.survey)
    return _page(
        invitation,
        link=link,
        longest=LONG_TITLE,
        researcher=survey.document.get("researcher"),
        hides=LETTERS[protection_by(survey)] if survey.private else "letter_unprotected",
        shown=[] if question is None else pictures(question),
    )


def cards(invitation: PosterContent, links: Sequence[str]) -> str:
    """Build cards to cut out, eight on an A4 page, each with its own link."""
    sheets = [links[first : first + CARDS_ON_A_PAGE] for first in range(0, len(links), CARDS_ON_A_PAGE)]
    return _page(invitation, sheets=sheets)


def _page(invitation: PosterContent, **parts: object) -> str:
    own = {"invitation": invitation, "survey": invitation.survey, "say": invitation.words.translate, "style": style()}
    return _template().render(**own, only_here=only_here, svg=svg, dots=dots, **parts)


@cache
def _template() -> Template:
    source = files("sottovoce.aggregator.invitations").joinpath("poster.html").read_text(encoding="utf-8")
    return Environment(autoescape=True, keep_trailing_newline=True).from_string(source)
