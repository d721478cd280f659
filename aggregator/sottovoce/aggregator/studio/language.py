"""Choose the studio's language: the reader's choice from a cookie, else the best match of ``Accept-Language``."""

import re

from flask import Response, g, request
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.i18n.translator import LANGUAGE_COOKIE, LANGUAGES, Words, language_of
from sottovoce.shared.languages import LANGUAGES as OWN_NAMES
from sottovoce.shared.languages import REVIEWED

_OF_STUDIO = re.compile(r"/dashboard(/[A-Za-z0-9_.~%/-]*)?(\?[A-Za-z0-9_.~%=&+-]*)?", re.ASCII).fullmatch

YEAR = 366 * 24 * 3600


def words() -> Words:
    """Return the translator for the reader's language, once for each request."""
    if "words" not in g:
        language = request.cookies.get(LANGUAGE_COOKIE, "")
        g.words = Words(language if language in LANGUAGES else language_of(request.headers.get("Accept-Language", "")))
    return g.words  # type: ignore[no-any-return]


def translation() -> dict[str, object]:
    """Return what translates in every template, and None for what only some pages have."""
    spoken = words()
    return {
        "words": spoken,
        "translate": spoken.translate,
        "count": spoken.count,
        "languages": OWN_NAMES,
        "reviewed": REVIEWED,
        "rehearsed": None,
        "resumed_form": None,
    }


def choose() -> Response:
    """Remember the language in ``?language=`` for this browser and redirect to the page in ``?page=``.

    GET is safe here: the server stores nothing, and a forged link can only change the language of the pages.
    """
    wanted, page = request.args.get("language", ""), request.args.get("page", "")
    reply = Response(status=303, headers={"Location": page if is_of_studio(page) else "/dashboard/"})
    if wanted in LANGUAGES:
        reply.set_cookie(LANGUAGE_COOKIE, wanted, max_age=YEAR, httponly=True, samesite="Lax", path="/dashboard")
    return reply


def is_of_studio(page: str) -> bool:
    """Return True if a path with its query belongs to the studio: no scheme, host or ``//``, against open redirects."""
    return _OF_STUDIO(page) is not None and "//" not in page


ROUTES = (Route("studio.language", "GET", "/dashboard/language", choose, "Remember a language for this browser."),)
"""Route that sets the language."""
