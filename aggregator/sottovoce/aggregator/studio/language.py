"""Which language a researcher reads: the one that was chosen, else the browser's first that the studio speaks."""

import re

from flask import Flask, Response, g, request
from sottovoce.aggregator.http.routing import Kind, Query, Route
from sottovoce.aggregator.i18n.languages import LANGUAGE_COOKIE, LANGUAGES, language_of
from sottovoce.aggregator.i18n.translator import Words

_OF_STUDIO = re.compile(r"/dashboard(/[A-Za-z0-9_.~%/-]*)?(\?[A-Za-z0-9_.~%=&+-]*)?", re.ASCII).fullmatch

YEAR = 366 * 24 * 3600

NAMES = {
    "en": "English",
    "ar": "العربية",
    "de": "Deutsch",
    "es": "Español",
    "fr": "Français",
    "hi": "हिन्दी",
    "pt": "Português",
    "zh-Hans": "简体中文",
}
"""Each language by its own name, as whoever reads it looks for it."""


def register(app: Flask) -> None:
    """Let every template speak the reader's language."""
    app.context_processor(_speak)


def words() -> Words:
    """The language of whoever asks."""
    if "words" not in g:
        chosen = request.cookies.get(LANGUAGE_COOKIE, "")
        g.words = Words(chosen if chosen in LANGUAGES else language_of(request.headers.get("Accept-Language", "")))
    return g.words  # type: ignore[no-any-return]


def _speak() -> dict[str, object]:
    spoken = words()
    return {"words": spoken, "say": spoken.say, "count": spoken.count, "languages": NAMES}


def choose() -> Response:
    """
    Remember the language in ``?language=`` for this browser and lead back to the page in ``?page=``.

    It changes nothing that is stored here, so a link may do it; who follows one reads another language, no more.
    """
    wanted, page = request.args.get("language", ""), request.args.get("page", "")
    reply = Response(status=303, headers={"Location": page if is_of_studio(page) else "/dashboard/"})
    if wanted in LANGUAGES:
        reply.set_cookie(LANGUAGE_COOKIE, wanted, max_age=YEAR, httponly=True, samesite="Lax", path="/dashboard")
    return reply


def is_of_studio(page: str) -> bool:
    """Whether a path, with its query, is one of the studio's and leads nowhere else."""
    return _OF_STUDIO(page) is not None and "//" not in page


ROUTES = (
    Route(
        "studio.language",
        "GET",
        "/dashboard/language",
        choose,
        "Remember a language for this browser.",
        Kind.PAGE,
        ("text/html",),
        query=(Query("language", "The language."), Query("page", "Where to go on.")),
    ),
)
"""The choice of a language."""
