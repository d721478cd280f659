"""Personal links: how many at once, as a table for mail merge, and their counts as the page may tell them."""

import csv
import io
from collections.abc import Sequence
from urllib.parse import parse_qsl

from sottovoce.aggregator.storage import StoredSurvey, TokenCounts
from sottovoce.aggregator.surveys.lifecycle import TRIAL
from sottovoce.aggregator.surveys.stored_surveys import survey_of

MOST_CARDS = 800
"""Cards, or letters, that a page makes at once, a hundred sheets: each takes a hundredth of a second."""


def as_table(links: Sequence[tuple[str, ...]], trial: bool, columns: Sequence[str] = ("link",)) -> str:
    """
    The tokens and links as CSV, a line each.

    Args:
        links: (token, link), or with a link to each of several waves.
        trial: whether they are to a try-out, which stands first then.
        columns: names of the columns of links.
    """
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    if trial:
        writer.writerow([TRIAL])
    writer.writerow(["token", *columns])
    writer.writerows(links)
    return file.getvalue()


def token_in(line: str) -> str:
    """The token in a line of what was handed out: a row of the table, a link, or the token alone."""
    cells = [cell.strip() for cell in line.split(",")]
    link = next((cell for cell in cells if "#" in cell), "")
    return dict(parse_qsl(link.partition("#")[2])).get("t", "") or cells[0]


def in_steps(counts: TokenCounts, stored: StoredSurvey) -> TokenCounts:
    """
    The counts with those that were taken back, or are held, in steps too, while the survey is open.

    Taking one link back and looking whether a number moves would tell whether that link's person has answered.

    Args:
        counts: of ``token_counts``, where those that were used move in steps already.
        stored: the newest revision.
    """
    step = 1 if stored.closed else survey_of(stored.document).release_batch
    # Of those that are held, how many at most.
    held = min(-(-counts.held // step) * step, counts.created)
    return counts._replace(revoked=counts.revoked // step * step, held=held)
