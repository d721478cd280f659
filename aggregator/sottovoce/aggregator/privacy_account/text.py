"""The privacy account as text, and the words that the page has in common with it."""

import math
from textwrap import fill

from sottovoce.aggregator.privacy_account.document import Document
from sottovoce.shared.rational import show_epsilon

WIDTH = 92

TRIAL = "Try-out: not the real survey."

AT_MOST = ("at_most", "after, at most")
AT_LEAST = ("at_least", "after, at least")
YES = ("after_yes", 'after "yes"')
NO = ("after_no", 'after "no"')


def lines(document: Document) -> list[str]:
    """The account for a terminal: what it costs, question by question and together, and under which conditions."""
    return [
        *([TRIAL] if "trial" in document else []),
        f"{document['title']} ({document['survey']}, revision {document['revision']})",
        f"digest {document['digest']}",
        "",
        *_totals(document),
        "",
        *(line for number, row in enumerate(document["questions"], 1) for line in _question(number, row)),
        *_together(document),
        *conditions(document),
        "What is stored",
        *map(_item, document["stored"]),
        "",
        "What this does not protect against",
        *map(_item, document["limits"]),
    ]


def totals(document: Document) -> list[tuple[str, float]]:
    """(who spends it, epsilon), from one question to a panel; empty if nothing is randomized."""
    if document["report"]["epsilon"] is None:
        return []
    asked = document["report"]["asked"]
    report = "a whole report" if asked is None else f"a whole report ({asked} questions drawn)"
    people, waves = document["household"]["people"], document["panel"]["waves"]
    costliest = max((row["epsilon"] or 0.0 for row in document["questions"]), default=0.0)
    return [
        ("the costliest question", costliest),
        (report, document["report"]["epsilon"]),
        (f"a household of {people}", document["household"]["epsilon"]),
        (f"a panel of {waves} {'wave' if waves == 1 else 'waves'}", document["panel"]["epsilon"]),
    ]


def conditions(document: Document) -> list[str]:
    """The figures that hold under a condition only, each with it; none if there are none."""
    found = []
    composed, shuffled = document["composed"], document["shuffled"]
    if composed is not None:
        also = "" if composed["advanced"] is None else f" (an older theorem gives {show_epsilon(composed['advanced'])})"
        found += [
            fill(
                f"With probability {_decimal(composed['delta'])} of failing altogether, a panel's "
                f"{composed['answers']} answers cost epsilon {show_epsilon(composed['epsilon'])}{also}.",
                WIDTH,
            ),
            "",
        ]
    if shuffled is not None:
        found += [
            fill(
                f"If, and only if, nobody can tell which of {shuffled['respondents']:,} reports is whose (no order, "
                "time, address or id; no respondent can check this), and with probability "
                f"{_decimal(shuffled['delta'])} of failing altogether:",
                WIDTH,
            ),
            *(
                f"  {row['name']}: epsilon at most {_small(row['at_most'])}"
                + ("" if row["exact"] is None else f" ({_small(row['exact'])} in the worst population that was tried)")
                for row in shuffled["questions"]
            ),
            "",
        ]
    return found


def percent(share: float) -> str:
    """A share with one decimal; what is not certain does not look certain."""
    if 0 < share < 0.0005:
        return "under 0.1 %"
    if 0.9995 <= share < 1:
        return "over 99.9 %"
    return f"{100 * share:.1f} %"


NOTHING = "Every question is public: nothing is randomized, and nothing protects an answer."

APART = "Public questions are not counted in this: nothing protects their answers."


def caveat(document: Document) -> str:
    """What the totals leave out, or an empty text."""
    if document["report"]["epsilon"] is None:
        return NOTHING
    return APART if any(row["epsilon"] is None for row in document["questions"]) else ""


def _totals(document: Document) -> list[str]:
    rows = [f"  {who:<36} epsilon {show_epsilon(epsilon)}" for who, epsilon in totals(document)]
    return ["What it costs", *rows, *([f"  {caveat(document)}"] if caveat(document) else [])]


def _together(document: Document) -> list[str]:
    beliefs = document["report"]["beliefs"]
    if beliefs is None:
        return []
    heading = "All randomized answers of a report together"
    return [heading, *_table("any statement about them", beliefs, (AT_MOST, AT_LEAST)), ""]


def _question(number: int, row: Document) -> list[str]:
    text = [
        fill(f"{number}. {row['label']}", WIDTH),
        fill(row["odds"], WIDTH, initial_indent="  ", subsequent_indent="  "),
    ]
    if row["yes_no"] is not None:
        text += _table("that the answer is yes", row["yes_no"], (YES, NO))
    elif row["beliefs"] is not None:
        text += _table("any statement about the answer", row["beliefs"], (AT_MOST, AT_LEAST))
    return [*text, ""]


def _table(about: str, rows: list[Document], columns: tuple[tuple[str, str], ...]) -> list[str]:
    head = f"  {'belief in ' + about if about.startswith('any') else 'belief ' + about:<40}{'before':>8}"
    head += "".join(f"{heading:>18}" for _, heading in columns)
    body = [
        f"  {'':<40}{100 * row['before']:>6.0f} %" + "".join(f"{percent(row[key]):>18}" for key, _ in columns)
        for row in rows
    ]
    return [head, *body]


def _small(epsilon: float) -> str:
    """Three decimals, rounded up."""
    return f"{math.ceil(epsilon * 1000) / 1000:.3f}"


def _decimal(delta: float) -> str:
    """0.000001, not 1e-06."""
    return f"{delta:.18f}".rstrip("0")


def _item(sentence: str) -> str:
    return fill(sentence, WIDTH, initial_indent="  - ", subsequent_indent="    ")
