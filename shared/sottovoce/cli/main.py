"""The ``sottovoce`` command: one verb, one module, imported when it is used."""

import importlib
import os
import sys
from typing import NoReturn

import click
from sottovoce.shared.errors import SpecError, SurveyError

VERBS = {
    "respond": "sottovoce.cli.respond",
    "ledger": "sottovoce.cli.ledger",
    "verify": "sottovoce.cli.page",
    "page": "sottovoce.cli.page",
    "demo": "sottovoce.cli.demo",
    "init": "sottovoce.cli.author",
    "lint": "sottovoce.cli.author",
    "plan": "sottovoce.cli.plan",
    "privacy": "sottovoce.cli.privacy",
    "serve": "sottovoce.cli.serve",
    "simulate": "sottovoce.cli.simulate",
    "survey": "sottovoce.cli.survey",
    "token": "sottovoce.cli.token",
    "researcher": "sottovoce.cli.researcher",
    "export": "sottovoce.cli.export",
    "audit": "sottovoce.cli.audit",
    "backup": "sottovoce.cli.maintain",
    "restore": "sottovoce.cli.maintain",
    "migrate": "sottovoce.cli.maintain",
    "copy": "sottovoce.cli.maintain",
    "purge": "sottovoce.cli.maintain",
    "doctor": "sottovoce.cli.maintain",
}
"""Verb -> module; the module holds the command under the verb's name."""

HELP = {
    "respond": "Answer the survey behind LINK, or take the report back.",
    "ledger": "See, send and clear the reports that this device remembers.",
    "verify": "Compare a respondent's page with this release's, byte by byte.",
    "page": "Make the respondent's page for a static host, or as one file.",
    "demo": "Run a survey of 6,366 real answers from the device to the table.",
    "init": "Write a sample survey to PATH.",
    "lint": "Check a survey file and show what it asks of a respondent.",
    "plan": "Respondents needed for a half-width, or to tell groups apart.",
    "privacy": "What a survey costs, for respondents and ethics boards.",
    "serve": "Run the aggregator, and publish a survey file if one is named.",
    "simulate": "Randomize the answers of invented respondents.",
    "survey": "Publish, list and close surveys.",
    "token": "Make, take back and count one-time tokens.",
    "researcher": "Manage researchers' tokens.",
    "export": "Write the results of a survey as JSON.",
    "audit": "Test the running clients against what a survey claims.",
    "backup": "Write a copy of the embedded database to a new file.",
    "restore": "Put a backup into a data folder that has no database yet.",
    "migrate": "Bring the database to this version's schema.",
    "copy": "Copy everything to another, empty database.",
    "purge": "Close surveys that are over; forget report ids that are due.",
    "doctor": "Check the database: schema, integrity, and all counts.",
}
"""Verb -> a line about it, so that the list of verbs imports none of them."""

PLAIN = frozenset({"respond", "ledger", "verify", "page"})
"""Verbs of the plain install, which is the respondent's client."""


class Verbs(click.Group):
    """The closed list of verbs."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """All verbs, in the order of their use."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The verb's command, or None."""
        if cmd_name not in VERBS:
            return None
        try:
            module = importlib.import_module(VERBS[cmd_name])
        except ModuleNotFoundError as error:
            if cmd_name in PLAIN or (error.name or "").startswith("sottovoce"):
                raise
            return _needs_install(cmd_name)
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of verbs, from ``HELP``."""
        with formatter.section("Commands"):
            formatter.write_dl([(verb, HELP.get(verb, "")) for verb in VERBS])

    def invoke(self, ctx: click.Context) -> object:
        """Run the verb; an expected error is a message and exit code 1, never a traceback."""
        try:
            return super().invoke(ctx)
        except SurveyError as error:
            fail(error)


def _needs_install(name: str) -> click.Command:
    def run() -> None:
        click.echo(f"sottovoce: '{name}' needs: pip install 'sottovoce[aggregator]'", err=True)
        sys.exit(1)

    return click.Command(
        name,
        callback=run,
        help="(needs pip install 'sottovoce[aggregator]')",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )


def fail(error: SurveyError) -> NoReturn:
    """Say what is wrong, a line for each mistake, and end with exit code 1."""
    if isinstance(error, SpecError):
        for pointer, message in error.problems:
            click.echo(f"{pointer}: {message}" if pointer else message, err=True)
    else:
        click.echo(f"sottovoce: {error}", err=True)
    sys.exit(1)


@click.command(cls=Verbs)
@click.version_option(package_name="sottovoce")
def main() -> None:
    """Surveys on sensitive questions: every answer is randomized on the respondent's own device."""
    # Whatever a verb writes is its user's alone: databases, ledgers, tokens, results.
    os.umask(0o077)
