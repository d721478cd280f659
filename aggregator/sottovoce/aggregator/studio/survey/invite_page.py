"""Show the page "Invite": link, QR code, poster, offline form, personal links, embedding code, and texts.

The page cannot show who has answered, because links and reports are stored without a connection.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from flask import Response, current_app, g, render_template, request
from sottovoce.aggregator.accounts.authentication import session_secret, storage
from sottovoce.aggregator.api.tokens import MOST_AT_ONCE
from sottovoce.aggregator.authoring.draft import whole_number
from sottovoce.aggregator.authoring.invitation_texts import ethics, letter, mail_merge, reminder
from sottovoce.aggregator.clock import date_of
from sottovoce.aggregator.http import problems
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.i18n.translator import LANGUAGES, Words, only_here
from sottovoce.aggregator.invitations import tokens
from sottovoce.aggregator.invitations.hold_messages import REISSUE
from sottovoce.aggregator.invitations.offline_form import PIECES, saved_form
from sottovoce.aggregator.invitations.personal_links import MOST_CARDS, in_steps, links_csv, parse_token_line
from sottovoce.aggregator.invitations.posters import PosterContent, cards, poster
from sottovoce.aggregator.invitations.qr_codes import png, svg_file
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.studio.request_context import (
    attachment,
    language_of_texts,
    print_reply,
    shown_institution,
    words,
)
from sottovoce.aggregator.studio.survey_frame import draft_placeholder, published_page
from sottovoce.aggregator.surveys.lifecycle import newest, survey_of, wave_state
from sottovoce.shared import canonical
from sottovoce.shared.private_address import private_host
from sottovoce.shared.spec import Survey, Wave

CSV = "text/csv; charset=utf-8"


@dataclass(frozen=True)
class InvitedWave:
    """Wave of a survey, from 0, with its common link to the newest revision.

    ``state`` is ``early``, ``open`` or ``closed``.
    """

    number: int
    wave: Wave
    link: str
    state: str


def invited_waves(stored: StoredSurvey, settings: Settings, now: datetime) -> Sequence[InvitedWave]:
    """List the waves of the newest revision in order; in a closed survey all of them are closed."""
    return [
        InvitedWave(
            number,
            wave,
            settings.link(stored.name, stored.digest, number),
            "closed" if stored.closed else wave_state(wave, now),
        )
        for number, wave in enumerate(survey_of(stored.document).waves)
    ]


def first_to_ask(waves: Sequence[InvitedWave]) -> int:
    """Return the number of the default wave: the first that is not closed, else the last."""
    return next((wave.number for wave in waves if wave.state != "closed"), waves[-1].number)


@dataclass(frozen=True)
class Invited:
    """Survey (its newest revision) and wave, the requested or the default one, that people are invited to."""

    stored: StoredSurvey
    survey: Survey
    waves: tuple[InvitedWave, ...]
    wave: InvitedWave

    @property
    def for_all_waves(self) -> bool:
        """True if one invitation covers all waves: it is redeemed once, for one report in each wave."""
        return self.survey.is_blind and len(self.waves) > 1


def invited(name: str) -> Invited:
    """Load the survey, with the wave in ``?wave=`` or in the form; raise ReportRejected if there is no such survey."""
    stored = newest(storage(), name)
    waves = tuple(invited_waves(stored, current_app.extensions["settings"], current_app.extensions["clock"]()))
    asked = request.values.get("wave", "")
    number = int(asked) if asked.isascii() and asked.isdecimal() and int(asked) < len(waves) else first_to_ask(waves)
    return Invited(stored, survey_of(stored.document), waves, waves[number])


def language_asked() -> Words:
    """Return the language in ``in``, for printed material; else the reader's."""
    language = request.values.get("in", "")
    return Words(language) if language in LANGUAGES else words()


def invite(name: str) -> str:
    """Show the page; for a draft, the placeholder page."""
    return draft_placeholder(name, "invite") or _page(name)


def personal_links(name: str) -> Response | tuple[str, int]:
    """Make personal links, as a table, as cards to print or for a mail merge; only this reply contains them.

    Each form carries its own request key. Posting the same form again from the same session returns the same links. A
    reload therefore makes no further links, and you can get the table and the cards of the same ones.
    """
    found = invited(name)
    # Seven digits exceed every limit.
    kind, count = request.form.get("as", "table"), whole_number(request.form.get("count", "").strip(), 7) or 0
    most = MOST_AT_ONCE if kind == "table" else MOST_CARDS
    if not found.survey.asks_for_invitation or found.wave.state == "closed":
        return _page(name, "invite_closed"), 409
    if not 1 <= count <= most:
        return _page(name, "links_refused" if kind == "table" else "links_refused_cards", most=most), 400
    try:
        made = _create_links(found, count)
    except tokens.KeyReused:
        return _page(name, "links_again"), 409
    return _table(found, made) if found.for_all_waves else _FILES.get(kind, _table)(found, made)


def take_links_back(name: str) -> tuple[str, int]:
    """Revoke personal links, pasted one on each line; invalid ones are ignored.

    The reply does not tell how many links were unspent: for a single link that would reveal if its person answered.
    """
    found = invited(name)
    given = [parse_token_line(line) for line in request.form.get("back", "").splitlines() if line.strip()]
    if not found.survey.asks_for_invitation or not given:
        return _page(name, "links_back_none"), 400
    tokens.revoke_tokens(storage(), name, given, g.who)
    return _page(name, message="links_back_done"), 200


def _create_links(found: Invited, count: int) -> list[str]:
    name, key = found.stored.name, request.form.get("batch", "")
    body = canonical.dump({"count": count, "wave": found.wave.number})
    return tokens.create_tokens_once(
        storage(), name, count, tokens.TokenRequest(session_secret(), name, f"page {key}", body, g.who)
    )


def poster_content(found: Invited) -> PosterContent:
    """Return what posters and cards show, in the language asked for."""
    return PosterContent(found.survey, found.wave.number, language_asked(), shown_institution(found.stored.name))


def _cards(found: Invited, made: list[str]) -> Response:
    return print_reply(cards(poster_content(found), [f"{found.wave.link}&t={token}" for token in made]))


def _table(found: Invited, made: list[str]) -> Response:
    """Write a row for each token with its link, or with one for each wave that is not closed."""
    waves = [wave for wave in found.waves if wave.state != "closed"] if found.for_all_waves else [found.wave]
    columns = [f"link_wave_{wave.number}" for wave in waves] if found.for_all_waves else ["link"]
    rows = [(token, *(f"{wave.link}&t={token}" for wave in waves)) for token in made]
    return attachment(links_csv(rows, found.survey.trial, columns, words()), CSV, f"{found.stored.name}-links.csv")


def _letters(found: Invited, made: list[str]) -> Response:
    who, links = shown_institution(found.stored.name).name, [f"{found.wave.link}&t={token}" for token in made]
    letters = mail_merge(found.survey, links, language_of_texts(found.survey), who)
    return attachment(letters, CSV, f"{found.stored.name}-letters.csv")


_FILES = {"table": _table, "cards": _cards, "letters": _letters}


def _texts(found: Invited) -> dict[str, str]:
    """Write the texts of the invitation, of the reminder and for the ethics board."""
    language = language_of_texts(found.survey)
    link = words().translate("tell_your_link") if found.survey.asks_for_invitation else found.wave.link
    survey = found.survey
    return {
        "letter": letter(survey, link, language, shown_institution(found.stored.name).name),
        "reminder": reminder(survey, link, language),
        "ethics": ethics(survey, language),
    }


def _page(name: str, problem: str = "", message: str = "", **values: object) -> str:
    found = invited(name)
    counts = tokens.token_counts(storage(), name) if found.survey.asks_for_invitation else None
    # A tablet's code only keeps people from starting again unasked, and stands in its own address: it is no secret.
    return render_template(
        "invite.html",
        page="invite",
        frame=published_page(name, "invite"),
        found=found,
        texts=_texts(found),
        language_of_texts=language_of_texts(found.survey),
        counts=None if counts is None else in_steps(counts, found.stored),
        held_since=None if counts is None or counts.held_since is None else date_of(counts.held_since),
        reissue=REISSUE,
        problem=words().translate(problem, **values) if problem else "",
        message=words().translate(message) if message else "",
        only_here=only_here(found.wave.link, words()),
        tablet_code="" if found.survey.asks_for_token else str(int(found.survey.digest[:8], 16) % 10**6).zfill(6),
        batch=tokens.new_request_key(),
        most=MOST_AT_ONCE,
        most_cards=MOST_CARDS,
        has_saved=current_app.extensions["assets"].get(PIECES) is not None,
        aggregator=current_app.extensions["settings"].url,
        form_token=g.form_token,
    )


def qr_svg(name: str) -> Response:
    """Serve the QR code of the link as SVG."""
    link = invited(name).wave.link
    return Response(svg_file(link, only_here(link, words())), content_type="image/svg+xml")


def qr_png(name: str) -> Response:
    """Download the QR code of the link as PNG."""
    link = invited(name).wave.link
    return attachment(png(link, warns=bool(private_host(link))), "image/png", f"{name}-qr.png")


def poster_page(name: str) -> Response:
    """Serve a poster to print, in the language in ``?in=``, else in the reader's."""
    found = invited(name)
    return print_reply(poster(poster_content(found), found.wave.link))


def saved_page(name: str) -> Response:
    """Download the form with the survey embedded, as one HTML file."""
    pieces = current_app.extensions["assets"].get(PIECES)
    if pieces is None:
        return problems.response("not_found")
    file = saved_form(pieces.asset.body, current_app.extensions["settings"].url, invited(name).stored)
    return attachment(file, "text/html; charset=utf-8", f"{name}.html")


_INVITE = "/dashboard/surveys/<name>/invite"

ROUTES = (
    Route("studio.invite", "GET", _INVITE, invite, "Show the ways to invite people to a survey."),
    Route("studio.personal_links", "POST", f"{_INVITE}/links", personal_links,
          "Create personal links; only this reply shows them."),
    Route("studio.take_links_back", "POST", f"{_INVITE}/links/back", take_links_back, "Revoke personal links."),
    Route("studio.qr_svg", "GET", f"{_INVITE}/qr.svg", qr_svg, "Draw the QR code of a survey's link."),
    Route("studio.qr_png", "GET", f"{_INVITE}/qr.png", qr_png, "Download the QR code of a survey's link as a picture."),
    Route("studio.poster", "GET", f"{_INVITE}/poster", poster_page, "Show a poster to print."),
    Route("studio.saved_page", "GET", f"{_INVITE}/saved.html", saved_page,
          "Download the form and its survey as one file."),
)  # fmt: skip
"""Routes of the page "Invite", of its forms and of its downloads."""
