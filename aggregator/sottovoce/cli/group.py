"""The class of groups: commands by section, imported when used, with a suggestion for a mistyped name."""

import importlib
from collections.abc import Mapping

import click
from sottovoce.shared.errors import did_you_mean, install_command

CommandPlace = tuple[str, str]
"""Module and function of a command, such as ``results.export:export``, and its line in the list of commands."""

PLAIN = ("device:", "respond:", "survey.page:")
"""Beginnings of places that the plain install has, which is the respondent's client."""


class CommandGroup(click.Group):
    """A group that knows its commands by name and imports each only when it is used.

    Args:
        name: the group's own name.
        line: about the group, in the list of the group above.
        sections: title -> name -> place of a command, or a group.
    """

    def __init__(
        self, name: str, line: str, sections: "Mapping[str, Mapping[str, CommandPlace | CommandGroup]]"
    ) -> None:
        super().__init__(name, help=line, short_help=line)
        self.sections = sections
        self.places = {each: place for section in sections.values() for each, place in section.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of all commands, in the order of their use."""
        return [name for section in self.sections.values() for name in section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return the command of this name, or None."""
        place = self.places.get(cmd_name)
        return place if place is None or isinstance(place, CommandGroup) else load(cmd_name, place[0])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the words begin with; raises UsageError, which suggests a similar one, if there is
        none.
        """
        if args[0] not in self.places and not args[0].startswith("-"):
            # As former releases had it, such as "backup" for "db backup".
            within = [f"{name} {args[0]}" for name, group in self.places.items() if args[0] in _places(group)]
            similar = did_you_mean(args[0], within, cutoff=0) or did_you_mean(args[0], self.places)
            raise click.UsageError(f'"{ctx.command_path} {args[0]}" is not a command.{similar}', ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the commands by section, each with its line."""
        for title, section in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, line_of(place)) for name, place in section.items()])


def _places(place: CommandPlace | CommandGroup) -> Mapping[str, "CommandPlace | CommandGroup"]:
    return place.places if isinstance(place, CommandGroup) else {}


def line_of(place: CommandPlace | CommandGroup) -> str:
    """Return the line of a command or group in the list of the group above."""
    return place.short_help or "" if isinstance(place, CommandGroup) else place[1]


def load(name: str, place: str) -> click.Command:
    """Import a command; one whose libraries are not installed gives way to a command that says so."""
    module, _, function = place.partition(":")
    try:
        found: click.Command = getattr(importlib.import_module(f"sottovoce.cli.{module}"), function)
    except ModuleNotFoundError as error:
        if place.startswith(PLAIN) or (error.name or "").startswith("sottovoce"):
            raise
        return _needs_install(name)
    return found


def _needs_install(name: str) -> click.Command:
    def run() -> None:
        raise click.ClickException(f'"{name}" needs the libraries of the aggregator: {install_command("aggregator")}')

    settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(name, callback=run, help="Needs the aggregator's libraries.", context_settings=settings)
