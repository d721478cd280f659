"""Audit for ``audit --curator``: check the mechanisms of curator mode against their claimed epsilon and delta."""

import json
import sys
from pathlib import Path

import click
from sottovoce.aggregator.curator.draws import system_draws
from sottovoce.audit.check import PASSED
from sottovoce.audit.curator.curator_checks import audit_curator, curator_lines, curator_report
from sottovoce.audit.lower_bound import MAX_SAMPLES
from sottovoce.cli.progress import waiting
from sottovoce.shared.errors import SpecError

CURATOR_RUNS = 1000
"""Of each of two data sets of clusters; everything else is enumerated."""


def audit_curator_here(survey: Path | None, runs: int | None, alpha: float, as_json: bool) -> None:
    """
    Audit the curator's mechanisms; exit code 1 unless everything passed.

    Args:
        survey: must be None: no survey is audited.
        runs: samples of clusters; None for the usual number.
        alpha: probability that sampling fails what is right.
        as_json: for programs.

    Raises:
        SpecError: a survey is named, or a number is out of range.
    """
    if survey is not None:
        raise SpecError("--curator audits the mechanisms themselves, without a SURVEY")
    if not 0 < alpha < 1 or (runs is not None and not 2 <= runs <= MAX_SAMPLES):
        raise SpecError("--alpha must lie between 0 and 1, --n between 2 and 10 million")
    with waiting("Auditing the mechanisms"):
        document = curator_report(audit_curator(system_draws(), runs or CURATOR_RUNS, alpha))
    click.echo(json.dumps(document, indent=2) if as_json else "\n".join(curator_lines(document)))
    if document["verdict"] != PASSED:
        sys.exit(1)
