"""Audit for ``audit --curator``: check the mechanisms of curator mode against their claimed epsilon and delta."""

import json
import sys
from collections.abc import Sequence

import click
from sottovoce.audit.check import PASSED
from sottovoce.audit.curator.curator_checks import audit_curator, curator_lines, curator_report
from sottovoce.cli.terminal import waiting
from sottovoce.shared.errors import SpecError


def audit_curator_here(named: Sequence[str], as_json: bool) -> None:
    """Audit the curator's mechanisms; exit code 1 unless everything passed.

    Args:
        named: other arguments and options that were given; there must be none.
        as_json: for programs.

    Raises:
        SpecError: a survey is named, or an option of its audit.
    """
    if named:
        raise SpecError(f"--curator audits the mechanisms themselves and samples nothing; leave out {', '.join(named)}")
    with waiting("Auditing the mechanisms"):
        document = curator_report(audit_curator())
    click.echo(json.dumps(document, indent=2) if as_json else "\n".join(curator_lines(document)))
    if document["verdict"] != PASSED:
        sys.exit(1)
