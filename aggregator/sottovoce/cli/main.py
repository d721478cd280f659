"""The ``sottovoce`` command: its table of commands, and the form of all errors."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click
from sottovoce.cli.group import CommandGroup
from sottovoce.cli.tree import HIDDEN, SECTIONS
from sottovoce.shared.errors import SpecError, SurveyError, did_you_mean

# Before numpy is loaded: its threads spin while they wait for each other. On a busy machine with two processors a model
# of 36 coefficients took 217 s with two threads and 6 s with one.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


class Program(CommandGroup):
    """The whole program; every expected error becomes a message and an exit code, never a traceback."""

    def make_context(self, *words: Any, **settings: Any) -> click.Context:  # noqa: ANN401 - click's signature
        """Parse the words before the command's own."""
        with _errors_as_messages():
            return super().make_context(*words, **settings)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command and turn expected errors into messages."""
        # What a command writes is its user's alone: databases, ledgers, tokens, results.
        os.umask(0o077)
        with _errors_as_messages():
            return super().invoke(ctx)


@contextmanager
def _errors_as_messages() -> Iterator[None]:
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:
        raise
    except click.NoSuchOption as error:
        options = [name for each in error.ctx.command.params for name in each.opts] if error.ctx else []
        _end_with_usage(
            f"the option {error.option_name} does not exist.{did_you_mean(error.option_name, options)}", error
        )
    except click.UsageError as error:
        _end_with_usage(_sentence(error.format_message()), error)
    except click.ClickException as error:
        _end(_sentence(error.format_message()), error.exit_code)
    except SurveyError as error:
        _end_with_problems(error)
    except (BrokenPipeError, click.exceptions.Exit):
        raise
    except OSError as error:
        # Libraries raise kinds of their own, of connections, without a text that could be shown.
        file = f"{error.filename}: " if isinstance(error.filename, str | Path) else ""
        _end(f"{file}{(error.strerror or f'failed ({type(error).__name__})').lower()}.", 1)


def _end_with_usage(message: str, error: click.UsageError) -> NoReturn:
    path = error.ctx.command_path if error.ctx else "sottovoce"
    _end(f'{message} Run "{path} --help" to see how it is used.', error.exit_code)


def _end_with_problems(error: SurveyError) -> NoReturn:
    """Print what is wrong, a line for each mistake of a survey file, and end with exit code 1."""
    if not isinstance(error, SpecError):
        _end(_sentence(str(error)), 1)
    if [each.pointer for each in error.problems] == [""]:
        _end(f"{error.file}{': ' if error.file else ''}{_sentence(error.problems[0].message)}", 1)
    count = len(error.problems)
    click.echo(f"Error: {error.file or 'the survey'} has {count} mistake{'' if count == 1 else 's'}:", err=True)
    for pointer, message in error.problems:
        place = error.places.get(pointer, pointer)
        click.echo(f"{place}: {message}" if place else message, err=True)
    sys.exit(1)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _end(message: str, code: int) -> NoReturn:
    click.echo(f"Error: {message}", err=True)
    sys.exit(code)


_PROGRAM = Program(
    "sottovoce", "Survey sensitive questions: each answer is randomized on the respondent's own device.", SECTIONS
)
_PROGRAM.places |= HIDDEN
main = click.version_option(package_name="sottovoce")(_PROGRAM)
