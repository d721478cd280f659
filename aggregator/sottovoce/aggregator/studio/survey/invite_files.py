"""Offer the downloads of the page "Invite": QR codes, poster and offline form."""

from flask import Response, current_app
from sottovoce.aggregator.http import problems
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.i18n.translator import only_here
from sottovoce.aggregator.invitations.offline_form import PIECES, saved_form
from sottovoce.aggregator.invitations.posters import poster
from sottovoce.aggregator.invitations.qr_codes import png, svg_file
from sottovoce.aggregator.studio.request_context import attachment, print_reply, words
from sottovoce.aggregator.studio.survey.invite_page import invited, poster_content
from sottovoce.shared.private_address import private_host


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
    Route("studio.qr_svg", "GET", f"{_INVITE}/qr.svg", qr_svg, "Draw the QR code of a survey's link."),
    Route("studio.qr_png", "GET", f"{_INVITE}/qr.png", qr_png, "Download the QR code of a survey's link as a picture."),
    Route("studio.poster", "GET", f"{_INVITE}/poster", poster_page, "Show a poster to print."),
    Route("studio.saved_page", "GET", f"{_INVITE}/saved.html", saved_page,
          "Download the form and its survey as one file."),
)  # fmt: skip
"""Routes of the downloads for a survey's link."""
