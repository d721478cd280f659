"""Embed a survey in the respondents' form, for a sandboxed frame; the page loads nothing from a server."""

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Protocol

from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey


class PreviewedForm(Protocol):
    """Page of the form in pieces, with the hashes for its content security policy."""

    @property
    def pieces(self) -> tuple[str, str, str]:
        """The page split at two places: the setup (JSON), and the banner above the form."""

    @property
    def script(self) -> str:
        """Source expression for the form's script in a content security policy."""

    @property
    def style(self) -> str:
        """Source expression for the form's style in a content security policy."""


def policy(form: PreviewedForm) -> str:
    """Return the content security policy of the frame.

    ``sandbox`` without ``allow-same-origin`` gives it an opaque origin without storage or cookies. It runs only the
    form's script, and ``default-src 'none'`` forbids every request.
    """
    return (
        f"sandbox allow-scripts allow-forms; default-src 'none'; script-src {form.script}; style-src {form.style}; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )


def pretended(survey: Survey) -> Survey:
    """Return the survey for the preview; blind access is replaced, because a draft has no keys yet.

    Blind access becomes token access, or open access if the survey memoizes draws, which tokens do not allow.
    """
    if not survey.is_blind:
        return survey
    return parse_survey({**survey.document, "access": "open" if survey.memoized else "token"})


def page_of(
    form: PreviewedForm,
    survey: Survey,
    catalogues: Mapping[str, Any],
    languages: Sequence[str],
    banner: str,
    at: int | None = None,
    institution: Mapping[str, str] | None = None,
) -> str:
    """Build the page of the form.

    Args:
        catalogues: catalogues of the form, by language.
        languages: preferred languages of the simulated device, best first.
        banner: plain text above the form, in the first language.
        at: index of the question to begin with; None for the form's first step.
        institution: what the form shows of it; empty or None if nothing.
    """
    shown = pretended(survey)
    held: dict[str, Any] = {"name": shown.name, "digest": shown.digest[:32], "text": shown.canonical.decode()}
    held |= {"institution": institution} if institution else {}
    setup = {"catalogues": catalogues, "languages": list(languages), "survey": held, "at": at}
    # Escape "<": otherwise a text with "</script>" would end the element that holds the JSON.
    written = json.dumps(setup, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    before, between, after = form.pieces
    return f'{before}{written}{between}<aside class="preview" dir="auto">{escape(banner)}</aside>\n{after}'
