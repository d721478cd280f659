"""Render the privacy account as text for a terminal, with totals and conditions that the HTML page shares."""

import math
from textwrap import fill

from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.privacy_account.document import Document
from sottovoce.shared.accounting import percent_at_most
from sottovoce.shared.rational import show_epsilon


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
        values = {"delta": _decimal(composed["delta"]), "epsilon": show_epsilon(composed["epsilon"])}
        found.append(words.translate("privacy_composed", answers=composed["answers"], **values))
        if composed["advanced"] is not None:
            found.append(words.translate("privacy_older", epsilon=show_epsilon(composed["advanced"])))
    if shuffled is not None:
        delta = _decimal(shuffled["delta"])
        found.append(words.translate("privacy_shuffled", respondents=shuffled["respondents"], delta=delta))
        found += [_shuffled(row, words) for row in shuffled["questions"]]
    return found


def _shuffled(row: Document, words: Words) -> str:
    bound = words.translate("privacy_shuffled_row", name=row["name"], epsilon=_small(row["at_most"]))
    if row["exact"] is None:
        return bound
    return f"{bound} ({words.translate('privacy_shuffled_exact', epsilon=_small(row['exact']))})"


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
        epsilon = show_epsilon(block["epsilon"])
        found.append((words.translate("privacy_block_all", names=names), epsilon, "", ""))
        found += [
            (row["name"], epsilon, odds(row["odds"], words), odds(row["odds_alone"], words))
            for row in block["questions"]
        ]
    whole = document["report"]["epsilon"]
    return [*found, (words.translate("privacy_report"), show_epsilon(whole), "", "")] if found else []


def odds(ratio: float, words: Words) -> str:
    """Format odds as an upper bound: with one decimal where they are not whole, rounded up."""
    tenths = math.ceil(10 * ratio - 1e-9)
    return f"{words.number(tenths / 10, 1 if tenths % 10 else 0)}:1"


def caveat(document: Document, words: Words) -> str:
    """Return a warning that nothing is randomized or that public questions are not in the totals, or ""."""
    if document["report"]["epsilon"] is None:
        return words.translate("privacy_nothing")
    return words.translate("privacy_apart") if any(row["epsilon"] is None for row in document["questions"]) else ""


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


def _small(epsilon: float) -> str:
    """Format epsilon with three decimals, rounded up, so that the figure stays an upper bound."""
    return f"{math.ceil(epsilon * 1000) / 1000:.3f}"


def _decimal(delta: float) -> str:
    """Format delta without an exponent."""
    return f"{delta:.18f}".rstrip("0")


WIDTH = 92

AT_MOST, AT_LEAST = "at_most", "at_least"
YES, NO = "after_yes", "after_no"
SHOW = {AT_MOST: at_most, AT_LEAST: at_least, YES: percent, NO: percent}
"""Format of each column of probabilities: bounds are rounded outward."""


def lines(document: Document, words: Words) -> list[str]:
    """Return the lines of a privacy account for a terminal: totals, questions, conditions, stored data and limits."""
    rows = [f"  {who:<36} epsilon {show_epsilon(epsilon)}" for _, who, epsilon in totals(document, words)]
    left_out = caveat(document, words)
    return [
        *([words.translate("trial")] if "trial" in document else []),
        f"{document['title']} ({document['survey']}, revision {document['revision']})",
        digest_in_words(document, words),
        "",
        words.translate("privacy_costs"),
        *rows,
        *([f"  {left_out}"] if left_out else []),
        "",
        *(line for number, row in enumerate(document["questions"], 1) for line in _question(number, row, words)),
        *_blocks(document, words),
        *_together(document, words),
        *(line for condition in conditions(document, words) for line in (fill(condition, WIDTH), "")),
        words.translate("privacy_stored"),
        *map(_item, document["stored"]),
        "",
        words.translate("privacy_limits"),
        *map(_item, document["limits"]),
    ]


def _together(document: Document, words: Words) -> list[str]:
    beliefs = document["report"]["beliefs"]
    if beliefs is None:
        return []
    return [words.translate("privacy_together"), *_table("about_report", beliefs, (AT_MOST, AT_LEAST), words), ""]


def _blocks(document: Document, words: Words) -> list[str]:
    rows = block_rows(document, words)
    if not rows:
        return []
    name, *headings = (words.translate(key) for key in BLOCK_COLUMNS)
    lines = []
    for who, *figures in rows:
        told = "; ".join(f"{heading}: {figure}" for heading, figure in zip(headings, figures, strict=True) if figure)
        lines.append(fill(f"{who}: {told}", WIDTH, initial_indent="  ", subsequent_indent="    "))
    return [name, *lines, ""]


def _question(number: int, row: Document, words: Words) -> list[str]:
    text = [
        fill(f"{number}. {row['label']}", WIDTH),
        fill(row["odds"], WIDTH, initial_indent="  ", subsequent_indent="  "),
    ]
    if row["yes_no"] is not None:
        text += _table("about_yes", row["yes_no"], (YES, NO), words)
    elif row["beliefs"] is not None:
        text += _table("about_answer", row["beliefs"], (AT_MOST, AT_LEAST), words)
    return [*text, ""]


def _table(about: str, rows: list[Document], columns: tuple[str, str], words: Words) -> list[str]:
    head = f"  {words.translate(f'privacy_{about}'):<40}{words.translate('privacy_before'):>8}"
    head += "".join(f"{words.translate(f'privacy_{key}'):>18}" for key in columns)
    body = [
        f"  {'':<40}{words.percent(row['before'], 0):>8}"
        + "".join(f"{SHOW[key](row[key], words):>18}" for key in columns)
        for row in rows
    ]
    return [head, *body]


def _item(sentence: str) -> str:
    return fill(sentence, WIDTH, initial_indent="  - ", subsequent_indent="    ")
