"""The ``sottovoce`` command: one verb, one module, imported when it is used."""

import importlib
import os
import sys
from typing import NoReturn

import click
from sottovoce.shared.errors import SpecError, SurveyError

VERBS = {
    "respond": ("respond", "Answer the survey behind LINK, or take the report back."),
    "ledger": ("device.ledger", "See, send and clear the reports that this device remembers."),
    "verify": ("device.verify", "Compare a respondent's page with this release's, byte by byte."),
    "page": ("device.verify", "Make the respondent's page for a static host, or as one file."),
    "demo": ("demo", "Run a survey of 6,366 real answers from the device to the table."),
    "init": ("new", "Write a sample survey to PATH."),
    "lint": ("new", "Check a survey file and show what it asks of a respondent."),
    "import-xlsform": ("survey.letter", "Make a survey file of an XLSForm workbook."),
    "plan": ("plan", "Respondents needed for a half-width, or to tell groups apart."),
    "privacy": ("survey.privacy", "What a survey costs, for respondents and ethics boards."),
    "letter": ("survey.letter", "Invitation, reminder and ethics text of a survey."),
    "serve": ("serve", "Run the aggregator, and publish a survey file if one is named."),
    "healthcheck": ("healthcheck", "Ask whether the node on this machine answers."),
    "simulate": ("survey.simulate", "Randomize the answers of invented respondents."),
    "survey": ("survey.survey", "Publish, list, close, reopen and delete surveys."),
    "token": ("link.link", "Make, take back and count one-time tokens."),
    "qr": ("survey.qr", "Write a survey's link as a QR code, or as a poster."),
    "account": ("staff.account", "List and disable accounts of staff; find the way back in."),
    "access": ("staff.account", "Give, take back and list roles on surveys."),
    "key": ("staff.key", "Make, list and revoke keys."),
    "invite": ("staff.account", "Print a link that gives a new person an account."),
    "researcher": ("staff.researcher", "Accounts that may do everything, each with its keys."),
    "export": ("results.export", "Write the results and files of a survey."),
    "estimate": ("results.estimate", "Results of a folder of reports, on one machine or many."),
    "crosstab": ("results.analyse", "Cross-tabulate two questions of a closed survey."),
    "compare": ("results.analyse", "Compare a share or a mean between groups."),
    "pairs": ("results.analyse", "Associations between all pairs of questions."),
    "regress": ("results.analyse", "Fit a regression to a closed survey."),
    "weights": ("results.weights", "Weights to known margins, and what they cost."),
    "curator": ("curator.curator", "Noisy answers from data in trusted hands, under a budget."),
    "reidentify": ("curator.reidentify", "Who could be found if a table was published as it is."),
    "audit": ("audit", "Test the running clients against what a survey claims."),
    "journal": ("db.journal", "Show, check and write out what staff did."),
    "backup": ("db.maintain", "Write a copy of the database to a new file."),
    "restore": ("db.maintain", "Put a backup into the configured database, if it is new."),
    "migrate": ("db.maintain", "Bring the database to this version's schema."),
    "copy": ("db.maintain", "Copy everything to another, empty database."),
    "purge": ("db.maintain", "Delete, close and purge what is due."),
    "doctor": ("db.doctor", "Check the database: schema, integrity, and all counts."),
}
"""Verb -> its module, which holds the command under that name; and a line about it, so that the list imports none."""

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
            module = importlib.import_module(f"sottovoce.cli.{VERBS[cmd_name][0]}")
        except ModuleNotFoundError as error:
            if cmd_name in PLAIN or (error.name or "").startswith("sottovoce"):
                raise
            return _needs_install(cmd_name)
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of verbs, each with its line."""
        with formatter.section("Commands"):
            formatter.write_dl([(verb, line) for verb, (_, line) in VERBS.items()])

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
            place = error.places.get(pointer, pointer)
            click.echo(f"{place}: {message}" if place else message, err=True)
    else:
        click.echo(f"sottovoce: {error}", err=True)
    sys.exit(1)


@click.command(cls=Verbs)
@click.version_option(package_name="sottovoce")
def main() -> None:
    """Surveys on sensitive questions: every answer is randomized on the respondent's own device."""
    # Whatever a verb writes is its user's alone: databases, ledgers, tokens, results.
    os.umask(0o077)
