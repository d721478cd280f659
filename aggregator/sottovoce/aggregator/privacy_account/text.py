"""Put the privacy account into blocks, which the HTML page and the terminal show, and write it for a terminal."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from textwrap import fill
from typing import NamedTuple
from unicodedata import east_asian_width

from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.privacy_account.document import Document
from sottovoce.shared.accounting import BELIEF_BEFORE, percent_after, percent_at_most
from sottovoce.shared.languages import numerals


def digest_in_words(document: Document, words: Words) -> str:
    """Return a sentence with the survey's digest, or the reason why there is none yet."""
    if document["digest"] is None:
        return words.translate("publish_digest_later")
    return words.translate("privacy_digest", digest=document["digest"])


def totals(document: Document, words: Words) -> list[tuple[str, str, float]]:
    """Return (key in ``ALL_SUMS``, label, epsilon) from one question to a panel; empty if nothing is randomized."""
    if document["report"]["epsilon"] is None:
        return []
    asked = document["report"]["asked"]
    report = "privacy_report" if asked is None else "privacy_report_drawn"
    people, waves = document["household"]["people"], document["panel"]["waves"]
    costliest = max((row["epsilon"] or 0.0 for row in document["questions"]), default=0.0)
    return [
        ("question", words.translate("privacy_costliest"), costliest),
        ("report", words.translate(report, asked=asked), document["report"]["epsilon"]),
        ("household", words.translate("privacy_household", people=people), document["household"]["epsilon"]),
        ("panel", words.translate("privacy_panel", waves=waves), document["panel"]["epsilon"]),
    ]


def conditions(document: Document, words: Words) -> list[str]:
    """Return sentences on figures that hold under a condition (delta, shuffling), each with its condition."""
    found = []
    composed, shuffled = document["composed"], document["shuffled"]
    if composed is not None:
        values = {"delta": _decimal(composed["delta"], words), "epsilon": words.write.epsilon(composed["epsilon"])}
        found.append(words.translate("privacy_composed", answers=composed["answers"], **values))
        if composed["advanced"] is not None:
            found.append(words.translate("privacy_older", epsilon=words.write.epsilon(composed["advanced"])))
    if shuffled is not None:
        delta = _decimal(shuffled["delta"], words)
        found.append(words.translate("privacy_shuffled", respondents=shuffled["respondents"], delta=delta))
        found += [_shuffled(row, words) for row in shuffled["questions"]]
    return found


def _shuffled(row: Document, words: Words) -> str:
    bound = words.translate("privacy_shuffled_row", name=row["name"], epsilon=_small(row["at_most"], words))
    if row["exact"] is None:
        return bound
    return f"{bound} ({words.translate('privacy_shuffled_exact', epsilon=_small(row['exact'], words))})"


BLOCK_COLUMNS = ("privacy_block", "privacy_block_epsilon", "privacy_block_known", "privacy_block_alone")
"""Headings of the table of blocks."""


def block_rows(document: Document, words: Words) -> list[tuple[str, str, str, str]]:
    """Return the rows of the table of blocks: each block, each question in it, and the whole report.

    A row has who it is about, epsilon, the odds for people who know the other answers, and the odds for anyone else; ""
    where a figure has no meaning.
    """
    found: list[tuple[str, str, str, str]] = []
    for block in document.get("blocks", ()):
        names = ", ".join(row["name"] for row in block["questions"])
        epsilon = words.write.epsilon(block["epsilon"])
        found.append((words.translate("privacy_block_all", names=names), epsilon, "", ""))
        found += [
            (row["name"], epsilon, *(f"{words.write.odds(row[key])}:1" for key in ("odds", "odds_alone")))
            for row in block["questions"]
        ]
    whole = document["report"]["epsilon"]
    return [*found, (words.translate("privacy_report"), words.write.epsilon(whole), "", "")] if found else []


def _caveat(document: Document, words: Words) -> str:
    """Return a warning that nothing is randomized or that public questions are not in the totals, or ""."""
    if document["report"]["epsilon"] is None:
        return Caveat(words.translate("privacy_nothing"))
    is_apart = any(row["epsilon"] is None for row in document["questions"])
    return Caveat(words.translate("privacy_apart")) if is_apart else ""


def at_most(share: float, words: Words) -> str:
    """Format an upper bound of a probability in whole per cent, rounded up, as on all pages; 100 % is never claimed."""
    whole = percent_at_most(share)
    if whole == 100 and share < 1:
        return words.translate("privacy_over", share=words.percent(0.99, 0))
    return words.percent(whole / 100, 0)


def at_least(share: float, words: Words) -> str:
    """Format a lower bound of a probability in whole per cent, rounded down; 0 % is never claimed."""
    whole = 100 - percent_at_most(1 - share)
    if whole == 0 and share > 0:
        return words.translate("privacy_under", share=words.percent(0.01, 0))
    return words.percent(whole / 100, 0)


def percent(share: float, words: Words) -> str:
    """Format a share with one decimal; shares near 0 or 1 get "under" or "over" instead of looking certain."""
    if 0 < share < 0.0005:
        return words.translate("privacy_under", share=words.percent(0.001))
    if 0.9995 <= share < 1:
        return words.translate("privacy_over", share=words.percent(0.999))
    return words.percent(share)


def _small(epsilon: float, words: Words) -> str:
    """Format epsilon with three decimals, rounded up, so that the figure stays an upper bound."""
    return words.number(math.ceil(epsilon * 1000) / 1000, 3)


def _decimal(delta: float, words: Words) -> str:
    """Format delta without an exponent."""
    return numerals(f"{delta:.18f}".rstrip("0"), words.language)


ALL_SUMS = ("question", "report", "household", "panel")


class AccountTable(NamedTuple):
    """Table of an account: rows of cells, the first of which is the row's heading; without headings, facts."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


class Caveat(str):
    """Paragraph that a reader must not miss."""

    __slots__ = ()
    is_caveat = True


AccountBlock = str | AccountTable | list[str]
"""Part of a section: a paragraph, a table, or a list of sentences."""


def sections(
    document: Document, words: Words, sums: Sequence[str] = ALL_SUMS
) -> Iterator[tuple[str, Sequence[AccountBlock]]]:
    """Yield the sections that a page and a terminal show, as heading key and blocks; ``sums`` are the totals to show.

    The questions of "privacy_questions" have their blocks in ``question_blocks``.
    """
    beliefs, whole = document["report"]["beliefs"], document["report"]["epsilon"]
    facts = [(who, words.write.epsilon(epsilon)) for which, who, epsilon in totals(document, words) if which in sums]
    costs: list[AccountBlock] = [at_worst(whole, words)] if beliefs else []
    costs += [AccountTable((), facts)] if facts else []
    costs += filter(None, [_caveat(document, words)])
    yield "privacy_costs", costs if whole is None else [*costs, words.translate("privacy_epsilon")]
    yield "privacy_questions", []
    headings, rows = [words.translate(key) for key in BLOCK_COLUMNS], block_rows(document, words)
    yield "privacy_block", [AccountTable(headings, rows)] if rows else []
    yield "privacy_together", [_beliefs("about_report", beliefs, BOUNDS, words)] if beliefs else []
    yield "privacy_conditions", conditions(document, words)
    yield "privacy_stored", [list(document["stored"])]
    yield "privacy_limits", [list(document["limits"])]


def at_worst(epsilon: float, words: Words) -> str:
    """Say in a sentence what a whole report can change at most."""
    before, after = words.percent(BELIEF_BEFORE, 0), words.percent(Fraction(percent_after(epsilon), 100), 0)
    return words.translate("privacy_at_worst", before=before, after=after)


BOUNDS = {"at_most": at_most, "at_least": at_least}
AFTER = {"after_yes": percent, "after_no": percent}
"""Columns of probabilities, with their formats: bounds are rounded outward."""


def question_blocks(row: Document, words: Words) -> list[AccountBlock]:
    """Return the blocks of a question: its odds, and what may be believed before and after its answer."""
    found: list[AccountBlock] = [row["odds"]] if row["odds"] else []
    if row["yes_no"] is not None:
        found.append(_beliefs("about_yes", row["yes_no"], AFTER, words))
    elif row["beliefs"] is not None:
        found.append(_beliefs("about_answer", row["beliefs"], BOUNDS, words))
    return found


def _beliefs(
    about: str, beliefs: Sequence[Document], columns: Mapping[str, Callable[[float, Words], str]], words: Words
) -> AccountTable:
    before = words.translate("privacy_before")
    headings = [words.translate(f"privacy_{key}") for key in (about, *columns)]
    rows = [
        (f"{words.percent(row['before'], 0)} {before}", *(show(row[key], words) for key, show in columns.items()))
        for row in beliefs
    ]
    return AccountTable(headings, rows)


WIDTH = 80


def lines(document: Document, words: Words) -> list[str]:
    """Return the lines of a privacy account for a terminal, each of at most ``WIDTH`` columns."""
    text = [words.translate("trial")] if "trial" in document else []
    text.append(f"{document['title']} ({document['survey']}, revision {document['revision']})")
    text += [filled(digest_in_words(document, words)), ""]
    for heading, blocks in sections(document, words):
        parts = [(words.translate(heading), blocks)] if blocks else []
        if heading == "privacy_questions":
            rows = enumerate(document["questions"], 1)
            parts = [(f"{number}. {row['label']}", question_blocks(row, words)) for number, row in rows]
        for title, told in parts:
            text += [filled(title), *(line for block in told for line in _lines(block, title)), ""]
    return text[:-1]


def _lines(block: AccountBlock, title: str) -> Iterator[str]:
    if isinstance(block, str):
        yield filled(block, "  ", "  ")
    elif isinstance(block, list):
        yield from (filled(each, "  - ") for each in block)
    else:
        if {*block.headings[:1]} - {title}:
            yield filled(f"{block.headings[0]}:", "  ")
        # A row is one line, with its headings: columns of so many languages do not stand below each other.
        for who, *cells in block.rows:
            named = zip(block.headings[1:] or ["epsilon"], cells, strict=True)
            yield filled(f"{who}: {'; '.join(f'{heading} {cell}' for heading, cell in named if cell)}", "  ")


def filled(text: str, first: str = "", others: str = "    ") -> str:
    """Break a text into lines; letters of Chinese are two columns wide."""
    width = WIDTH // 2 if any(east_asian_width(letter) in "WF" for letter in text) else WIDTH
    return fill(text, width, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)
