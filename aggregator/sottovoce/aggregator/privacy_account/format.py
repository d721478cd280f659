"""The sums and conditions of an account in words, as its page and its text both tell them."""

import math

from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.privacy_account.document import Document
from sottovoce.shared.rational import show_epsilon


def digest_in_words(document: Document, words: Words) -> str:
    """The digest, or why there is none yet."""
    if document["digest"] is None:
        return words.say("publish_digest_later")
    return words.say("privacy_digest", digest=document["digest"])


def totals(document: Document, words: Words) -> list[tuple[str, str, float]]:
    """(which sum, who spends it, epsilon), from one question to a panel; empty if nothing is randomized."""
    if document["report"]["epsilon"] is None:
        return []
    asked = document["report"]["asked"]
    report = "privacy_report" if asked is None else "privacy_report_drawn"
    people, waves = document["household"]["people"], document["panel"]["waves"]
    costliest = max((row["epsilon"] or 0.0 for row in document["questions"]), default=0.0)
    return [
        ("question", words.say("privacy_costliest"), costliest),
        ("report", words.say(report, asked=asked), document["report"]["epsilon"]),
        ("household", words.say("privacy_household", people=people), document["household"]["epsilon"]),
        ("panel", words.say("privacy_panel", waves=waves), document["panel"]["epsilon"]),
    ]


def conditions(document: Document, words: Words) -> list[str]:
    """The figures that hold under a condition only, each with it; none if there are none."""
    found = []
    composed, shuffled = document["composed"], document["shuffled"]
    if composed is not None:
        values = {"delta": _decimal(composed["delta"]), "epsilon": show_epsilon(composed["epsilon"])}
        found.append(words.say("privacy_composed", answers=composed["answers"], **values))
        if composed["advanced"] is not None:
            found.append(words.say("privacy_older", epsilon=show_epsilon(composed["advanced"])))
    if shuffled is not None:
        delta = _decimal(shuffled["delta"])
        found.append(words.say("privacy_shuffled", respondents=shuffled["respondents"], delta=delta))
        found += [_shuffled(row, words) for row in shuffled["questions"]]
    return found


def _shuffled(row: Document, words: Words) -> str:
    told = words.say("privacy_shuffled_row", name=row["name"], epsilon=_small(row["at_most"]))
    if row["exact"] is None:
        return told
    return f"{told} ({words.say('privacy_shuffled_exact', epsilon=_small(row['exact']))})"


def caveat(document: Document, words: Words) -> str:
    """What the sums leave out, or an empty text."""
    if document["report"]["epsilon"] is None:
        return words.say("privacy_nothing")
    return words.say("privacy_apart") if any(row["epsilon"] is None for row in document["questions"]) else ""


def percent(share: float, words: Words) -> str:
    """A share with one decimal; what is not certain does not look certain."""
    if 0 < share < 0.0005:
        return words.say("privacy_under", share=words.percent(0.001))
    if 0.9995 <= share < 1:
        return words.say("privacy_over", share=words.percent(0.999))
    return words.percent(share)


def _small(epsilon: float) -> str:
    """Three decimals, rounded up."""
    return f"{math.ceil(epsilon * 1000) / 1000:.3f}"


def _decimal(delta: float) -> str:
    """0.000001, not 1e-06."""
    return f"{delta:.18f}".rstrip("0")
