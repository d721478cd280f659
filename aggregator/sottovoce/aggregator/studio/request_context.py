"""Helpers that studio pages share: the database, the acting account, the date, the institution and refusals, the
reader's language and its template filters, and replies to print.

Filters format numbers, intervals and mechanisms in the reader's language. The estimate tells shares from other values;
the ``grid`` of a number question formats that question's own values. The language is the reader's choice from a cookie,
else the best match of ``Accept-Language``. A page to print has an inline style and no script.
"""

import base64
import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from importlib.resources import files

from flask import Flask, Response, current_app, g, redirect, request
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.accounts.authentication import now, storage
from sottovoce.aggregator.analysis.worked_example import has_band, limits
from sottovoce.aggregator.clock import DAY
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.i18n.translator import LANGUAGE_COOKIE, LANGUAGES, WORDS, Words, decimals_of, language_of
from sottovoce.aggregator.institution import Institution, institution_of
from sottovoce.aggregator.storage.accounts.accounts import AccessTables
from sottovoce.aggregator.storage.accounts.models import AccessRefused
from sottovoce.shared.answers import Grid
from sottovoce.shared.errors import StorageError
from sottovoce.shared.languages import LANGUAGES as OWN_NAMES, REVIEWED
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.spec import Question, Survey

_KEPT_SECONDS = 2
"""The server's institution, which every page shows, is read again when older: another node may have changed it."""

_MEDIA_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "woff2": "font/woff2"}

HUNDRED = 100

_OF_STUDIO = re.compile(r"/dashboard(/[A-Za-z0-9_.~%/-]*)?(\?[A-Za-z0-9_.~%=&+-]*)?", re.ASCII).fullmatch

YEAR = 366 * 24 * 3600

_STYLE = re.compile("<style>(.*?)</style>", re.DOTALL)


def print_reply(page: str) -> Response:
    """Return the page with a content security policy that allows only its inline style, by hash."""
    style = _STYLE.search(page)
    digest = base64.b64encode(hashlib.sha256((style[1] if style else "").encode()).digest()).decode()
    reply = Response(page)
    reply.headers["Content-Security-Policy"] = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    return reply


def attachment(body: str | bytes, content_type: str, name: str) -> Response:
    """Return a file that the browser saves under this name."""
    return Response(body, content_type=content_type, headers={"Content-Disposition": f"attachment; filename={name}"})


def static_file(file: str) -> Response:
    """Serve a file of the pages; to the style sheet of all of them it adds the institution's accent colour."""
    more = shown_institution().style.encode() if file == "studio.css" else b""
    body = files("sottovoce.aggregator.studio").joinpath("static", file).read_bytes() + more
    reply = Response(body, content_type=_MEDIA_TYPES[file.rpartition(".")[2]])
    if file.endswith(".woff2"):
        # Browsers keep it, since a newer font gets a name of its own.
        reply.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    return reply


def words() -> Words:
    """Return the translator for the reader's language, once for each request."""
    if "words" not in g:
        language = request.cookies.get(LANGUAGE_COOKIE, "")
        g.words = WORDS.get(language) or WORDS[language_of(request.headers.get("Accept-Language", ""))]
    return g.words  # type: ignore[no-any-return]


def language_of_texts(survey: Survey) -> str:
    """Return the language in ``in``, if the survey has it; else the reader's; else the survey's default."""
    wanted = (request.values.get("in", ""), words().language)
    return next((language for language in wanted if language in survey.title), survey.default_language)


def translation() -> dict[str, object]:
    """Return what every template has: the institution, what translates, and None for what only some pages have."""
    spoken = words()
    return {
        "institution": shown_institution(),
        "words": spoken,
        "translate": spoken.translate,
        "count": spoken.count,
        "write": spoken.write,
        "gap": spoken.translate("gap"),
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


def figure(value: float | None, estimate: Estimate, grid: Grid | None = None) -> str:
    """Format a share as a percentage with one decimal, and any other value by the question's grid; None as a dash."""
    if value is None:
        return "–"
    write = words().write
    return write.percent(value) if estimate.kind == "share" else write.number(value, grid, decimals=_digits(estimate))


def _digits(estimate: Estimate) -> int | None:
    """Return the decimals of a mean or quantile and its limits."""
    return decimals_of(estimate.raw if estimate.clipped is None else estimate.clipped, *estimate.ends)


def difference(value: float | None, estimate: Estimate, grid: Grid | None = None) -> str:
    """Format a difference of two values, with the unit of the grid; None as a dash."""
    unit = "" if grid is None or value is None or estimate.kind == "share" else grid.unit
    return words().translate(f"joint_{unit}", number=figure(value, estimate)) if unit else figure(value, estimate)


def interval(estimate: Estimate, still_open: bool, grid: Grid | None = None) -> str:
    """Format the interval of an estimate; while the survey is open, the band that is valid at every look.

    A dash if there is none.
    """
    if estimate.low is None:
        return "–"
    return _range(*limits(estimate, still_open), estimate, grid)


def together(estimate: Estimate, grid: Grid | None = None) -> str:
    """Format the simultaneous interval, which covers all options of the question at once."""
    if estimate.low is None:
        return "–"
    return _range(estimate.simultaneous_low, estimate.simultaneous_high, estimate, grid)


def place(value: float, axis: tuple[float, float]) -> str:
    """Scale a value to 0..100 between the ends of an axis, for SVG coordinates."""
    low, high = axis
    return f"{100 * (value - low) / (high - low):.3f}"


def tick(part: int, axis: tuple[float, float], kind: str, grid: Grid | None = None) -> str:
    """Format the label of a tick at ``part`` (0 to 100) of an axis with these ends, for estimates of a ``kind``."""
    low, high = axis
    value = low + part / 100 * (high - low)
    if kind == "share":
        decimals = 0 if high - low >= 0.2 else 1
        return words().write.percent(value, decimals) if part == HUNDRED else words().number(value * 100, decimals)
    return words().write.number(value, grid)


def odds(question: Question) -> str:
    """Explain a mechanism by what devices send for 100 people."""
    if question.mechanism is None:
        return words().translate("results_public")
    write, found = words().write.of_hundred, question.mechanism.explain()
    figures = {name: write(value) if isinstance(value, Fraction) else value for name, value in found.items()}
    usual = f"odds_{question.mechanism.report_kind}"
    if question.by_fact and question.by_fact.is_crosswise:
        usual = "odds_crosswise"
    # Some types need a sentence of their own: for dates it says "latest", not "largest".
    own = f"results_{question.type}_{usual}"
    return words().translate(own if words().knows(own) else f"results_{usual}", **figures)


def numbers(mechanism: Mechanism) -> str:
    """Describe a mechanism by its textbook name, if any, its name here and its numbers."""
    dumped = mechanism.dump()
    parameters = [f"{key} {value}" for key, value in dumped.items() if isinstance(value, int | str) and key != "name"]
    known = f"{mechanism.known_as} · " if mechanism.known_as else ""
    return f"{known}{mechanism.name}{': ' if parameters else ''}{', '.join(parameters)}"


def _range(low: float, high: float, estimate: Estimate, grid: Grid | None) -> str:
    write = words().write
    if estimate.kind == "share":
        return write.interval(write.percent(low), write.percent(high))
    ends = (write.number(end, grid, towards, _digits(estimate)) for end, towards in ((low, -1), (high, 1)))
    return write.interval(*ends)


FILTERS = has_band, limits, figure, difference, interval, together, place, tick, odds, numbers
"""All filters; templates use them by function name."""


def tables() -> AccessTables:
    """Return the tables of accounts and roles; the audit log records changes under the signed-in account."""
    return storage().access.by(g.get("who", ""))


def today() -> int:
    """Return the current day as a number of days since 1970-01-01."""
    return now() // DAY


def days_asked(what: str, most: int) -> int:
    """Return the number of days in the form; raise AccessRefused if it is missing or out of range."""
    days = request.form.get("days", "")
    if days.isascii() and days.isdigit() and len(days) <= 3 and 1 <= int(days) <= most:
        return int(days)
    raise AccessRefused(f"{what} is good for 1 to {most} days", "days", most=most)


def refusal_message(refused: AccessRefused) -> str:
    """Return the reason of a refusal in the reader's language."""
    return words().translate(f"refused_{refused.reason}", **refused.values) if refused.reason else str(refused)


def acted(act: Callable[[], str | None], page: Callable[..., str], after: Callable[[], str]) -> ResponseReturnValue:
    """Do what a form asks; show its page with the link made or the refusal, else redirect to ``after``."""
    try:
        link = act()
    except AccessRefused as refused:
        return page(refused=refusal_message(refused)), 422
    return (page(link=link), 200) if link else redirect(after(), 303)


def shown_institution(survey: str = "") -> Institution:
    """Return the institution of a survey, "" for the server; while the database fails, the operator's file's."""
    standing: Institution = current_app.extensions["institution"]
    kept: dict[str, tuple[int, Institution]] = current_app.extensions["kept_institution"]
    then, found = kept.get(survey, (0, standing))
    if 0 <= now() - then < _KEPT_SECONDS:
        return found
    with suppress(StorageError):
        found = institution_of(storage().institutions.documents(survey), standing, survey)
        if not survey:
            kept[survey] = now(), found
        return found
    return standing


def forget_institution() -> None:
    """Read the institution anew for the next page, after a change."""
    current_app.extensions["kept_institution"].clear()


def register(app: Flask) -> None:
    """Give every template its filters, the reader's language and the institution."""
    app.extensions["institution"] = app.extensions["settings"].shown_institution
    app.extensions["kept_institution"] = {}
    app.context_processor(translation)
    for template_filter in FILTERS:
        app.add_template_filter(template_filter)
