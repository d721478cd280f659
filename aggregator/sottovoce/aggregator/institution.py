"""Institution that runs an aggregator or a survey, as pages and files show it: name, imprint, accent colour, logo."""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

LEAST_CONTRAST = 4.5
"""Least contrast of text with its ground (WCAG 2.2, 1.4.3)."""
MOST_LOGO_BYTES = 3072
MOST_LETTERS = 120
"""Most letters of a name, which stands in one line of every page."""

_LIGHT, _DARK = "#f6f4ef", "#1d2327"
"""The grounds of studio and form that leave an accent the least contrast, in the two themes."""
_FORMS = {
    "imprint": (re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[^\s\"'<>]*)?"), "an https address"),
    "contact": (re.compile(r"[^\s@<>\"']{1,64}@[A-Za-z0-9.-]{1,253}"), "an email address"),
    "accent": (re.compile(r"#[0-9a-fA-F]{6}"), "a colour such as #1d5f5a"),
}
# An image runs no script, but the file may be opened by itself, and must load nothing.
_UNSAFE = re.compile(
    rb"<script|<foreignObject|<!ENTITY|\son[a-z]+\s*=|javascript:|(?:href|src)\s*=\s*[\"'](?!#)|url\((?!#)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Institution:
    """Attributes of the institution; each is "" if it is not set.

    Attributes:
        imprint: https address of its imprint.
        contact: email address for problems with accessibility.
        accent: colour of links and buttons in the light theme, ``#rrggbb``.
        logo: the SVG as a ``data:`` URI.
    """

    name: str = ""
    imprint: str = ""
    contact: str = ""
    accent: str = ""
    logo: str = ""

    @property
    def in_form(self) -> dict[str, str]:
        """Details for the respondents' form; empty if there are none."""
        shown = {"name": self.name, "imprint": self.imprint, "logo": self.logo, "accent": self.accent}
        dark = {"accent_dark": lightened(self.accent, _DARK)} if self.accent else {}
        return {key: value for key, value in (shown | dark).items() if value}

    @property
    def style(self) -> str:
        """CSS rules that replace the accent in both themes; "" without one."""
        if not self.accent:
            return ""
        dark = lightened(self.accent, _DARK)
        return (
            f":root {{ --accent: {self.accent}; --accent-ink: #fff; }}\n"
            f"@media (prefers-color-scheme: dark) {{ :root {{ --accent: {dark}; --accent-ink: #10201e; }} }}\n"
        )


class InvalidInstitution(ValueError):
    """Error in the attribute ``field`` of an ``Institution``; the message says how it must be."""

    def __init__(self, field: str, wanted: str) -> None:
        super().__init__(f"{field} must {wanted}")
        self.field = field


def check_institution(given: Mapping[str, str]) -> Institution:
    """Return the institution with these attributes; a logo is a ``data:`` URI.

    Raises InvalidInstitution if an attribute has another form, or the accent too little contrast.
    """
    for key, (pattern, wanted) in _FORMS.items():
        if given.get(key) and not pattern.fullmatch(given[key]):
            raise InvalidInstitution(key, f"be {wanted}")
    if len(given.get("name", "")) > MOST_LETTERS:
        raise InvalidInstitution("name", f"have at most {MOST_LETTERS} letters")
    accent = given.get("accent", "").lower()
    if accent and (found := contrast(accent, _LIGHT)) < LEAST_CONTRAST:
        wanted = f"have a contrast of {LEAST_CONTRAST} with a white page; it has {found:.2f}"
        raise InvalidInstitution("accent", wanted)
    return Institution(**{**given, "accent": accent})


def logo_uri(body: bytes) -> str:
    """Return an SVG file as a ``data:`` URI.

    Raises InvalidInstitution if it is too large or no SVG, or could run a script or load another file.
    """
    if len(body) > MOST_LOGO_BYTES or b"<svg" not in body or _UNSAFE.search(body):
        raise InvalidInstitution("logo", f"be an SVG of at most {MOST_LOGO_BYTES:,} bytes without scripts and links")
    return f"data:image/svg+xml;base64,{base64.b64encode(body).decode()}"


def read_institution(path: Path) -> Institution:
    """Read the file about an institution: a JSON object with some of ``name imprint contact accent logo``, all texts.

    A relative path of the logo starts at the file's folder. Raises ValueError, with the key, if a file cannot be read
    or a value is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        raise ValueError("it must be a JSON file that can be read") from None
    given = _parsed(text)
    return check_institution({**given, "logo": _read_logo(path.parent / given["logo"]) if given.get("logo") else ""})


def _parsed(text: str) -> dict[str, str]:
    try:
        given = json.loads(text)
    except ValueError:
        raise ValueError("it must be a JSON file that can be read") from None
    known = {each.name for each in fields(Institution)}
    if not isinstance(given, dict) or not set(given) <= known or not all(isinstance(v, str) for v in given.values()):
        raise ValueError(f"it must be an object with texts for some of {', '.join(sorted(known))}")
    return given


def _read_logo(path: Path) -> str:
    try:
        return logo_uri(path.read_bytes())
    except OSError:
        raise ValueError("logo names a file that cannot be read") from None


def institution_of(found: Mapping[str, bytes], standing: Institution, survey: str = "") -> Institution:
    """Return the institution that pages and files show: the survey's own details, then the server's, then ``standing``.

    ``found`` are the database's documents, the server's under "", which replaces the operator's file ``standing``.
    """
    given = _parsed(found[""].decode()) if "" in found else asdict(standing)
    own = _parsed(found[survey].decode()) if survey and survey in found else {}
    return Institution(**{**given, **{key: value for key, value in own.items() if value}})


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours ``#rrggbb`` (WCAG 2.2), from 1 to 21."""
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def lightened(colour: str, ground: str) -> str:
    """Return the colour, mixed with as little white as gives it enough contrast with a dark ground."""
    for percent in range(101):
        mixed = "#" + "".join(f"{round(part + (255 - part) * percent / 100):02x}" for part in _parts(colour))
        if contrast(mixed, ground) >= LEAST_CONTRAST + 1:
            return mixed
    return "#ffffff"


def _parts(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))


def _luminance(colour: str) -> float:
    linear = [part / 255 / 12.92 if part / 255 <= 0.04045 else ((part / 255 + 0.055) / 1.055) ** 2.4
              for part in _parts(colour)]  # fmt: skip
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
