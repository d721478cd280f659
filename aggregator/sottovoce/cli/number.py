"""Numbers as people write them on the command line: ``.1``, ``1e-1``, ``0,1`` and ``ln 3``."""

import math
import re
from typing import Any

import click

_LOGARITHM = re.compile(r"ln ?\(?([0-9]{1,6})\)?")


class Number(click.FloatRange):
    """A number, also with a decimal comma, or as the natural logarithm of a whole number."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Return the number that was typed.

        Args:
            value: the text, or a default that is a number.
            param: click's.
            ctx: click's.
        """
        if isinstance(value, str):
            logarithm = _LOGARITHM.fullmatch(value.strip().lower())
            value = math.log(int(logarithm[1])) if logarithm and int(logarithm[1]) else _with_point(value)
        return super().convert(value, param, ctx)


def _with_point(text: str) -> str:
    return text.replace(",", ".") if text.count(",") == 1 and "." not in text else text


NUMBER = Number()
