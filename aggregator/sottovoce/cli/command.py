"""The class of commands, and numbers as people write them.

Examples stand at the end of the help, and no option is given twice. A number is ``.1``, ``1e-1``, ``0,1`` or ``ln 3``.
"""

import io
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import click

_LOGARITHM = re.compile(r"ln ?\(?([0-9]{1,6})\)?")


class Command(click.Command):
    """A command with examples at the end of its help, which refuses a single option that is given twice."""

    def __init__(self, *words: Any, example: str = "", **settings: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*words, **settings)
        self.example = example

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the examples, a line each."""
        if self.example:
            with formatter.section("Example"):
                formatter.write_text(f"\b\n{self.example}")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words; raises UsageError if a single option comes twice, of which click would silently take the
        last.
        """
        words, args = args, []
        for word in words:
            # The two words of ``--epsilon ln 3`` are one value.
            is_number = word.isdigit() and args[-1:] == ["ln"] and "".join(args[-2:-1]).endswith("epsilon")
            args[-1:] = [f"ln{word}"] if is_number else [*args[-1:], word]
        with ctx.scope(cleanup=False), click.core.augment_usage_errors(ctx):
            given = Counter(self.make_parser(ctx).parse_args(args=list(args))[2])
        for option, times in given.items():
            if isinstance(option, click.Option) and times > 1 and not (option.multiple or option.is_flag):
                raise click.UsageError(f"option {option.opts[0]} is given {times} times, and takes one value", ctx)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's
        """Run the command; raises ClickException if a file that should hold text holds something else."""
        try:
            return super().invoke(ctx)
        except UnicodeDecodeError:
            name = _name_of_text(ctx.params.values())
            raise click.ClickException(f'the file "{name}" holds no text in UTF-8') from None


def command(name: str | None = None, *, example: str, **settings: Any) -> Callable[[Callable[..., Any]], Command]:  # noqa: ANN401 - click's
    """Decorate a function as a command; ``name`` is for another name than the function's.

    ``example`` has one line or more, each a whole call of the program; ``settings`` are click's.
    """
    return click.command(name, cls=Command, example=example, **settings)


def _name_of_text(values: Iterable[Any]) -> str:
    """Return the name of the file among the values of a command, which click has opened."""
    names = [str(each.name) for each in values if isinstance(each, io.TextIOWrapper)]
    return names[0] if names else "a file"


class Number(click.FloatRange):
    """A number, also with a decimal comma, or as the natural logarithm of a whole number."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401
        """Return the number that was typed, or a default that is one."""
        if isinstance(value, str):
            logarithm = _LOGARITHM.fullmatch(value.strip().lower())
            value = math.log(int(logarithm[1])) if logarithm and int(logarithm[1]) else _with_point(value)
        return super().convert(value, param, ctx)


def _with_point(text: str) -> str:
    return text.replace(",", ".") if text.count(",") == 1 and "." not in text else text


NUMBER = Number()
