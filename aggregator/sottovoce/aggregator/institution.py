"""Institution that runs an aggregator, as the studio shows it: name, imprint, contact, accent colour and logo."""

import base64
import json
import re
from dataclasses import dataclass, fields
from pathlib import Path

LEAST_CONTRAST = 4.5
"""Least contrast of text with its ground (WCAG 2.2, 1.4.3)."""
MOST_LOGO_BYTES = 3072

_LIGHT, _DARK = "#f6f5f1", "#1d2327"
"""The grounds of the two themes that leave an accent the least contrast."""
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
    """
    Attributes of the institution; each is "" if it is not set.

    Attributes:
        name: its name.
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
    def style(self) -> str:
        """CSS rules that replace the accent in both themes; "" without one."""
        if not self.accent:
            return ""
        dark = lightened(self.accent, _DARK)
        return (
            f":root {{ --accent: {self.accent}; --accent-ink: #fff; }}\n"
            f"@media (prefers-color-scheme: dark) {{ :root {{ --accent: {dark}; --accent-ink: #10201e; }} }}\n"
        )


def read_institution(path: Path) -> Institution:
    """
    Read the file about an institution: a JSON object with some of ``name imprint contact accent logo``, all texts.

    Args:
        path: of the file; a relative path of the logo starts at its folder.

    Raises:
        ValueError: the file or the logo cannot be read, or what is wrong with which key.
    """
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise ValueError("it must be a JSON file that can be read") from None
    known = {each.name for each in fields(Institution)}
    if not isinstance(given, dict) or not set(given) <= known or not all(isinstance(v, str) for v in given.values()):
        raise ValueError(f"it must be an object with texts for some of {', '.join(sorted(known))}")
    for key, (pattern, wanted) in _FORMS.items():
        if given.get(key) and not pattern.fullmatch(given[key]):
            raise ValueError(f"{key} must be {wanted}")
    accent = given.get("accent", "").lower()
    if accent and (found := contrast(accent, _LIGHT)) < LEAST_CONTRAST:
        raise ValueError(f"accent must have a contrast of {LEAST_CONTRAST} with a white page; it has {found:.2f}")
    logo = _logo(path.parent / given["logo"]) if given.get("logo") else ""
    return Institution(**{**given, "accent": accent, "logo": logo})


def _logo(path: Path) -> str:
    try:
        body = path.read_bytes()
    except OSError:
        raise ValueError("logo names a file that cannot be read") from None
    if len(body) > MOST_LOGO_BYTES or b"<svg" not in body or _UNSAFE.search(body):
        raise ValueError(f"logo must be an SVG of at most {MOST_LOGO_BYTES:,} bytes without scripts and links")
    return f"data:image/svg+xml;base64,{base64.b64encode(body).decode()}"


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
