"""The respondents' form with a survey in it, for a frame that knows nobody: what it takes stands in the page itself."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Protocol

from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey


class PreviewedForm(Protocol):
    """The form's page in pieces, and what its policy allows."""

    @property
    def pieces(self) -> tuple[str, str, str]:
        """The page around its setup, and around what stands above the form."""

    @property
    def script(self) -> str:
        """How a content security policy names its one script."""

    @property
    def style(self) -> str:
        """How it names the style."""


def policy(form: PreviewedForm) -> str:
    """What the frame may do: run the one script, in an origin of its own that has no storage and reaches nobody."""
    return (
        f"sandbox allow-scripts allow-forms; default-src 'none'; script-src {form.script}; style-src {form.style}; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )


def pretended(survey: Survey) -> Survey:
    """
    The survey as it is looked at: of a blind one everything but the keys, of which a draft has none.

    Its invitations become tokens, or nothing where it remembers draws, which goes with no token.
    """
    if not survey.is_blind:
        return survey
    return parse_survey({**survey.document, "access": "open" if survey.memoized else "token"})


def page_of(
    form: PreviewedForm, survey: Survey, catalogues: Mapping[str, Any], languages: Sequence[str], banner: str
) -> str:
    """
    The form's page.

    Args:
        form: its pieces.
        survey: that it asks.
        catalogues: the form's own sentences, by language.
        languages: of the device that is pretended, best first.
        banner: what stands above the form, as plain text in the first language.
    """
    shown = pretended(survey)
    held = {"name": shown.name, "digest": shown.digest[:32], "text": shown.canonical.decode()}
    setup = {"catalogues": catalogues, "languages": list(languages), "survey": held}
    # Nothing in it ends the element that it stands in.
    written = json.dumps(setup, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    before, between, after = form.pieces
    return f'{before}{written}{between}<aside class="preview" dir="auto">{escape(banner)}</aside>\n{after}'
