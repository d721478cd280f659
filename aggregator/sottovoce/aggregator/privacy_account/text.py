"""The privacy account as text, for a terminal."""

from textwrap import fill

from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.privacy_account.document import Document
from sottovoce.aggregator.privacy_account.format import caveat, conditions, digest_in_words, percent, totals
from sottovoce.shared.rational import show_epsilon

WIDTH = 92

AT_MOST, AT_LEAST = "at_most", "at_least"
YES, NO = "after_yes", "after_no"


def lines(document: Document, words: Words) -> list[str]:
    """
    The account for a terminal: what it costs, question by question and together, and under which conditions.

    Args:
        document: of ``account``.
        words: in the same language.
    """
    return [
        *([words.say("trial")] if "trial" in document else []),
        f"{document['title']} ({document['survey']}, revision {document['revision']})",
        digest_in_words(document, words),
        "",
        *_totals(document, words),
        "",
        *(line for number, row in enumerate(document["questions"], 1) for line in _question(number, row, words)),
        *_together(document, words),
        *(line for told in conditions(document, words) for line in (fill(told, WIDTH), "")),
        words.say("privacy_stored"),
        *map(_item, document["stored"]),
        "",
        words.say("privacy_limits"),
        *map(_item, document["limits"]),
    ]


def _totals(document: Document, words: Words) -> list[str]:
    rows = [f"  {who:<36} epsilon {show_epsilon(epsilon)}" for _, who, epsilon in totals(document, words)]
    left_out = caveat(document, words)
    return [words.say("privacy_costs"), *rows, *([f"  {left_out}"] if left_out else [])]


def _together(document: Document, words: Words) -> list[str]:
    beliefs = document["report"]["beliefs"]
    if beliefs is None:
        return []
    heading = words.say("privacy_together")
    return [heading, *_table("about_report", beliefs, (AT_MOST, AT_LEAST), words), ""]


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
    head = f"  {words.say(f'privacy_{about}'):<40}{words.say('privacy_before'):>8}"
    head += "".join(f"{words.say(f'privacy_{key}'):>18}" for key in columns)
    body = [
        f"  {'':<40}{words.percent(row['before'], 0):>8}"
        + "".join(f"{percent(row[key], words):>18}" for key in columns)
        for row in rows
    ]
    return [head, *body]


def _item(sentence: str) -> str:
    return fill(sentence, WIDTH, initial_indent="  - ", subsequent_indent="    ")
