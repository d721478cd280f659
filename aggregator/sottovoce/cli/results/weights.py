"""``weights``: weights of reports to known margins of public questions."""

from pathlib import Path
from typing import Any

import click
from sottovoce.aggregator.export.results_client.sources import FolderReports
from sottovoce.aggregator.export.results_client.weight_files import read_margins, weights_csv
from sottovoce.cli.command import command
from sottovoce.cli.output import check_free, write_text
from sottovoce.cli.results.run_analysis import ask, show
from sottovoce.cli.results.survey_source import reports_of, source_options
from sottovoce.shared.errors import SpecError


@command(example="sottovoce results weights exam --to margins.yaml")
@source_options
@click.option("--to", "margins", type=click.Path(path_type=Path), required=True, help="What is known, as YAML or JSON.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="With --from: CSV of one weight a report.")
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
def weights(margins: Path, out: Path | None, force: bool, as_json: bool, **place: Any) -> None:  # noqa: ANN401
    """Weights that make the reports of SURVEY agree with known margins of public questions, and what they cost."""
    check_free(out, [".csv"], force)
    reports, known = reports_of(**place), read_margins(margins)
    if out is not None and not isinstance(reports, FolderReports):
        raise SpecError("--out is for --from: only the reports in a file have an order that weights could be in")
    document = ask(reports, "weights", {"margins": known})
    if out is not None and isinstance(reports, FolderReports):
        write_text(weights_csv(reports.weights(known)), out)
    show(document, as_json)
