"""Draw a question's charts as PNG, from the same layout as the SVG, by matplotlib without a browser.

matplotlib is an extra (``[plot]``). Its own font has Latin, Greek, Cyrillic and Arabic letters, and no others.
"""

import importlib
import io
from importlib.util import find_spec
from typing import Any

from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.studio.results.svg_chart import WIDTH, Drawing, Text

DPI, SCALE = 100, 2
POINTS = 72 / DPI
"""Size of a pixel of the layout in points."""

SIZES = {"title": 18, "label": 14, "trial": 14, "tick": 12, "axis": 12, "foot": 11}
COLOURS = {"trial": "#8a3b12", "tick": "#565d66", "axis": "#565d66", "foot": "#565d66"}
OTHER_SCRIPTS = frozenset({"hi", "zh-Hans"})
"""Languages of the studio whose letters the font lacks."""


def has_png(language: str) -> bool:
    """Return True if the server can draw pictures in a language of the studio."""
    return language not in OTHER_SCRIPTS and find_spec("matplotlib") is not None


def png_of(drawn: Drawing) -> bytes:
    """Draw a layout; raise Refusal if matplotlib is not installed, or its font lacks a letter."""
    if find_spec("matplotlib") is None:
        raise Refusal("not_found", "this server draws no PNG; take the SVG")
    _check_letters(drawn)
    figure = importlib.import_module("matplotlib.figure").Figure(figsize=(WIDTH / DPI, drawn.height / DPI), dpi=DPI)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH), ylim=(drawn.height, 0))
    axes.set_axis_off()
    for top, bottom in drawn.grids:
        axes.vlines([float(drawn.x(part)) for part in (0, 25, 50, 75, 100)], top, bottom, color="#d9d6cc", lw=0.8)
    for bar in drawn.bars:
        low, high = float(drawn.x(bar.low)), float(drawn.x(bar.high))
        axes.fill_between([low, high], bar.y, bar.y + 18, color="#8fbcb5", lw=0)
        if bar.middle is not None:
            axes.plot(float(drawn.x(bar.middle)), bar.y + 9, "o", ms=12 * POINTS, color="#173f3c")
    for text in drawn.texts:
        _write(axes, drawn, text)
    made = io.BytesIO()
    figure.savefig(made, format="png", dpi=DPI * SCALE, facecolor="white", metadata={"Software": None})
    return made.getvalue()


def _check_letters(drawn: Drawing) -> None:
    fonts = importlib.import_module("matplotlib.font_manager")
    known = fonts.get_font(fonts.findfont("DejaVu Sans")).get_charmap()
    if any(ord(letter) not in known for text in drawn.texts for letter in text.text if letter.isprintable()):
        raise Refusal("not_found", "this server has no font for letters of this picture; take the SVG")


def _write(axes: Any, drawn: Drawing, text: Text) -> None:  # noqa: ANN401 - matplotlib's
    is_end = text.across == 100
    centred = bool(text.across) and not is_end
    axes.text(
        float(drawn.x(text.across or 0)),
        text.y,
        text.text,
        ha="center" if centred else "right" if is_end != (drawn.direction == "rtl") else "left",
        va="baseline",
        family="DejaVu Sans",
        fontsize=SIZES[text.kind] * POINTS,
        weight="bold" if text.kind in ("title", "trial") else "normal",
        color=COLOURS.get(text.kind, "#1f2328"),
        parse_math=False,
    )
