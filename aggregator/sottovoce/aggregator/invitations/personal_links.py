"""Handle personal links: limits, tables for mail merge, and counts in steps for the page."""

import csv
import io
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TextIO
from urllib.parse import parse_qsl

from sottovoce.aggregator.i18n.translator import Words, only_here
from sottovoce.aggregator.storage import StoredSurvey, TokenCounts
from sottovoce.aggregator.surveys.lifecycle import TRIAL, survey_of

MOST_CARDS = 800
"""Maximum number of cards or letters at once (100 sheets); each takes about 10 ms."""


def links_csv(
    links: Sequence[tuple[str, ...]], trial: bool, columns: Sequence[str] = ("link",), words: Words | None = None
) -> str:
    """Return tokens and links as CSV; arguments as for ``write_links``."""
    file = io.StringIO(newline="")
    write_links(file, links, trial, columns, words)
    return file.getvalue()


def write_links(
    file: TextIO,
    links: Iterable[tuple[str, ...]],
    trial: bool,
    columns: Sequence[str] = ("link",),
    words: Words | None = None,
) -> None:
    """Write tokens and links as CSV, a row for each token as it comes; for a test run the first line says so.

    ``links`` are tuples of a token and its link, or a link for each wave; ``words`` is the language of a last column
    that warns, once, of links that work only here; None for no such column.
    """
    rows = iter(links)
    first = list(islice(rows, 1))
    warning = only_here(first[0][-1], words) if words and first else ""
    writer = csv.writer(file)
    if trial:
        writer.writerow([TRIAL])
    more = ("warning", warning) if warning else ()
    writer.writerow(["token", *columns, *more[:1]])
    writer.writerows((*link, *more[1:]) for link in first)
    writer.writerows((*link, *("" for _ in more[1:])) for link in rows)


def parse_token_line(line: str) -> str:
    """Extract the token from a line: a row of the table, a link, or the token alone."""
    cells = [cell.strip() for cell in line.split(",")]
    link = next((cell for cell in cells if "#" in cell), "")
    return dict(parse_qsl(link.partition("#")[2])).get("t", "") or cells[0]


def in_steps(counts: TokenCounts, stored: StoredSurvey) -> TokenCounts:
    """Round the counts of revoked and held links to steps while the survey is open; spent ones are already.

    Otherwise you could revoke a single link and see from the count if its person has answered.
    """
    step = 1 if stored.closed else survey_of(stored.document).release_batch
    # Round held links up: the number is an upper bound.
    held = min(-(-counts.held // step) * step, counts.created)
    return counts._replace(revoked=counts.revoked // step * step, held=held)
