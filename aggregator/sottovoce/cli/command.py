"""Parts of every command: the class of commands, numbers as people write them, files that it writes, and questions.

Commands    Defaults and examples stand in the help; no option is given twice. A number is ``.1``, ``1e-1``, ``0,1`` or
            ``ln 3``.
Files       A command writes to a file or new folder that a user has named, and to nothing else. All of it is written or
            nothing; a new folder or file never stands in the place of something that is there.
Questions   Without a terminal, the safe default is taken, and no progress is shown. Progress of commands that can take
            longer than two seconds goes to standard error.
"""

import glob
import hashlib
import io
import json
import math
import os
import re
import shutil
import signal
import stat
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any

import click
from sottovoce.shared.errors import StorageError, cannot_write

_LOGARITHM = re.compile(r"ln ?\(?([0-9]{1,6})\)?")

PART = ".part"

PATH, FILE = click.Path(path_type=Path), click.Path(path_type=Path, dir_okay=False)
"""Types of arguments and options: a path, and one of no folder."""

STOPS = {signal.SIGINT, signal.SIGTERM}
"""The signals that stop the server. SIGHUP is one, unless ``nohup`` ignores it; Windows has none."""
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
    STOPS.add(signal.SIGHUP)

_SYSTEM = (Path("/dev"), Path("/dev/fd"))


def on_terminal() -> bool:
    """Return whether standard input is a terminal, so that a person can answer."""
    return sys.stdin.isatty()


def ask(question: str, default: bool) -> bool:
    """Return the answer, or the default without a terminal."""
    return click.confirm(question, default=default, err=True) if on_terminal() else default


def ask_for(what: str, expected: str) -> bool:
    """Return whether the person types exactly the expected words; False without a terminal."""
    return on_terminal() and click.prompt(what, err=True).strip() == expected


def is_shown() -> bool:
    """Return whether a person watches: standard error is a terminal."""
    return sys.stderr.isatty()


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Show a text with a moving sign until the work is done."""
    if not is_shown():
        yield
        return
    # Imported only here: short commands would wait for it.
    from rich.console import Console

    with Console(stderr=True).status(f"{text} ..."):
        yield


@contextmanager
def writing(path: Path, kind: str = "file") -> Iterator[None]:
    """Raise StorageError, which says why, where a file or folder cannot be written."""
    try:
        yield
    except OSError as error:
        raise StorageError(cannot_write(path, error).replace("the file", f"the {kind}", 1)) from None


@contextmanager
def part_beside(path: Path) -> Iterator[Path]:
    """Yield a path of this name in a temporary folder beside it, once the folders of killed runs are removed."""
    for left in path.parent.glob(f".{glob.escape(path.name)}.*{PART}"):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", suffix=PART, dir=path.parent) as folder:
        yield Path(folder, path.name)


def check_new_folder(folder: Path) -> None:
    """Refuse, before anything is done, a folder that holds something: no file of it is ever written over. Raises
    StorageError if it is there and not empty, is no folder, or is a link.
    """
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise StorageError(f'"{folder}" is not an empty folder; it was left as it is. Name another one')


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield a place for a folder that gets its name only when all of it is there.

    Leftovers of a killed run are removed first: they may contain reports. Raises StorageError if it cannot be written;
    nothing is left under the name, or in its folder.
    """
    path = path.absolute()
    with writing(path, "folder"), part_beside(path) as part:
        part.mkdir()
        yield part
        # An empty folder of this name is replaced; one that has got something meanwhile is not.
        part.rename(path)


def create_file(path: Path, body: bytes) -> None:
    """Write a new file that its user alone can read; raises StorageError if it cannot be written, or is there."""
    new = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with writing(path), os.fdopen(os.open(path, new, 0o600), "wb") as file:
        file.write(body)


def write_for_web(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a new folder that any web server may read, whatever its user's umask, and print the files' SHA-256.

    Raises StorageError if it cannot be written, or is there.
    """
    with writing(folder, "folder"):
        folder.mkdir(parents=True)
        for name, body in files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(body)
            path.chmod(0o644)
            click.echo(f"{hashlib.sha256(body).hexdigest()}  {path}")
        for place in {folder, *((folder / name).parent for name in files)}:
            place.chmod(0o755)


def check_free(out: Path | None, suffixes: Sequence[str], force: bool) -> None:
    """Ask, before anything is done, whether a file may be written; devices and pipes may. None is standard output.

    ``force`` replaces a file without asking. Raises StorageError for another suffix than ``suffixes``, or if the file
    exists and may not be replaced.
    """
    if out is not None and out.is_dir():
        raise StorageError(f'"{out}" is a folder. Name a file in it, such as "{out / f"file{suffixes[0]}"}"')
    if out is None or (out.exists() and not out.is_file()):
        return
    if out.absolute().parent not in _SYSTEM and out.suffix.lower() not in suffixes:
        raise StorageError(f'the name "{out}" must end in {" or ".join(suffixes)}, the kind of file that is written')
    if out.is_file() and not out.is_symlink() and not force and not ask(f"Replace {out}?", default=False):
        raise StorageError(f'the file "{out}" exists already; it was left as it is. To replace it, add --force')


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a place for a file that gets its name only when it is whole and on the disk, with room beside it.

    What a run that was killed has left there is removed first: it may hold report ids. Raises StorageError if it cannot
    be written; nothing is left under the name, or in its folder.
    """
    with writing(path), part_beside(path) as part:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.rename(path)


def write_json(document: object, out: Path | None) -> None:
    """Write to a file that appears whole or not at all, or to standard output."""
    write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", out)


def write_text(text: str, out: Path | None) -> None:
    """Write to a file that appears whole or not at all, or to standard output; a device such as ``/dev/stdout``, or a
    pipe, is written to. Raises StorageError if it cannot be written, or is a link: what it leads to may not be what was
    meant.
    """
    if out is None:
        click.echo(text, nl=False)
        return
    # /dev/stdout is a link as well, which the system made, and may lead to a file.
    by_system = out.is_symlink() and out.absolute().parent in _SYSTEM
    if out.is_symlink() and not by_system:
        raise StorageError(f'"{out}" is a symbolic link. Name the file that it leads to')
    with writing(out):
        mode = out.stat().st_mode if out.exists() else 0
        if stat.S_ISCHR(mode) or stat.S_ISFIFO(mode) or (by_system and out.is_file()):
            with os.fdopen(os.open(out, os.O_WRONLY | os.O_APPEND), "w", encoding="utf-8") as stream:
                stream.write(text)
        elif by_system or (out.exists() and not out.is_file()):
            raise StorageError(f'"{out}" is neither a file nor a device that takes text')
        else:
            # A random name, so that no other user can have planted a symbolic link there.
            handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.", suffix=PART)
            part = Path(name)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text)
                part.replace(out)
            finally:
                part.unlink(missing_ok=True)


class Command(click.Command):
    """A command with examples at the end of its help, which refuses a single option that is given twice."""

    def __init__(self, *words: Any, example: str = "", **settings: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*words, **settings)
        self.example = example
        for option in self.params:
            if isinstance(option, click.Option) and option.show_default is None and not option.is_flag:
                # A default that the help does not name is shown after it.
                is_named = "[default" in (option.help or "") or option.default == ""
                option.show_default = isinstance(option.default, str | int | float) and not is_named

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
            names = (str(each.name) for each in ctx.params.values() if isinstance(each, io.TextIOWrapper))
            name = next(names, "a file")
            raise click.ClickException(f'the file "{name}" holds no text in UTF-8') from None


def command(name: str | None = None, *, example: str, **settings: Any) -> Callable[[Callable[..., Any]], Command]:  # noqa: ANN401 - click's
    """Decorate a function as a command; ``name`` is for another name than the function's.

    ``example`` has one line or more, each a whole call of the program; ``settings`` are click's.
    """
    return click.command(name, cls=Command, example=example, **settings)


def options_of(*options: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add several arguments and options to a command, in this order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


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
