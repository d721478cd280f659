"""What a survey is, in terms of its file, and the statements that are true of it.

A statement is a key of the catalogues and a condition. Nothing here asks the product what a survey is: conditions read
the survey file, and take only the privacy loss from the program.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sottovoce.shared.spec import Survey

from tests.documents import Document

NEARLY_SURE = 4.3944
"""Privacy loss that makes a belief of 10 % one of 90 %: ln 81."""


@dataclass(frozen=True)
class Asked:
    """A question as its survey file has it; ``unit`` is the name of its block, else its own."""

    name: str
    unit: str
    is_private: bool
    arms: Sequence[str]
    is_own_fact: bool
    depends_on: frozenset[str]
    asked_in_block: int = 0


@dataclass(frozen=True)
class Facts:
    """What is true of a survey; ``epsilon`` is the privacy loss of a whole report."""

    document: Document
    epsilon: float
    dearest: float

    @classmethod
    def of(cls, survey: Survey) -> "Facts":
        return cls(survey.document, survey.epsilon, max(question.epsilon for question in survey.questions))

    @cached_property
    def questions(self) -> list[Asked]:
        return [asked for item in self.document["questions"] for asked in _asked(item)]

    @cached_property
    def private(self) -> list[Asked]:
        """Questions whose answers chance changes."""
        return [asked for asked in self.questions if asked.is_private]

    @property
    def has_files(self) -> bool:
        """Say whether files of reports have answers that are sent as given."""
        return any("in_files" in item for item in self.document["questions"])

    @cached_property
    def arms(self) -> list[str]:
        """Names of the arms; one without a name of a survey without arms."""
        return [arm["name"] for arm in self.document.get("arms", [])] or [""]

    def in_arm(self, arm: str) -> list[Asked]:
        return [asked for asked in self.questions if not asked.arms or arm in asked.arms]

    def counts(self, arm: str) -> tuple[int, int]:
        """Return how many answers of a person in this arm are randomized, and sent as given, at most."""
        units: dict[str, list[Asked]] = {}
        for asked in self.in_arm(arm):
            if asked.is_private:
                units.setdefault(asked.unit, []).append(asked)
        sizes = sorted((unit[0].asked_in_block or len(unit) for unit in units.values()), reverse=True)
        is_open = sum(not asked.is_private for asked in self.in_arm(arm))
        return sum(sizes[: self.document.get("ask") or len(sizes)]), is_open

    @cached_property
    def kinds(self) -> set[tuple[str, int, int]]:
        """Ways in which people's answers are sent, ``mixed`` ones by their counts; one if chance decides nothing."""
        return {_kind(*self.counts(arm)) for arm in self.arms}

    def has(self, kind: str) -> bool:
        """Say whether chance decides how answers are sent, and whether some people's are sent in this way."""
        return len(self.kinds) > 1 and kind in {name for name, *_ in self.kinds}

    @property
    def is_mixed(self) -> bool:
        """Say whether everybody sends some answers randomized, the others as given."""
        return len(self.kinds) == 1 and {name for name, *_ in self.kinds} == {"mixed"}

    @property
    def are_all_private(self) -> bool:
        """Say whether everybody's answers are all randomized."""
        return {name for name, *_ in self.kinds} == {"chance"}

    @property
    def is_nearly_sure(self) -> bool:
        """Say whether all answers together may tell nearly everything."""
        return self.epsilon >= NEARLY_SURE

    @property
    def is_blind(self) -> bool:
        """Say whether links cannot be matched with answers."""
        return isinstance(self.document["access"], dict)

    def hides_by(self, procedure: str) -> bool:
        """Say whether a fact of people's own hides an answer in this way."""
        return any(item.get("procedure") == procedure for item in self.document["questions"])

    @property
    def own_coin(self) -> bool:
        return bool(self.document["privacy"]["procedure"] == "own_coin")

    @property
    def has_own_facts(self) -> bool:
        """Say whether a fact of people's own hides an answer, so that no device draws it."""
        return any(asked.is_own_fact for asked in self.private)

    @property
    def by_device(self) -> bool:
        return not self.own_coin and any(not asked.is_own_fact for asked in self.private)

    @property
    def shows_time(self) -> bool:
        """Say whether a private answer decides how many questions are asked."""
        private = {asked.name for asked in self.private}
        return any(private & asked.depends_on for asked in self.questions)

    def closes(self, wave: int = 0) -> str | None:
        waves = self.document.get("waves")
        return (waves[wave] if waves else self.document).get("closes")


def _kind(chance: int, is_open: int) -> tuple[str, int, int]:
    return ("mixed", chance, is_open) if chance and is_open else ("chance" if chance else "open", 0, 0)


def _asked(item: Document) -> Iterator[Asked]:
    if item.get("type") in {"note", "acknowledge"}:
        return
    conditions, arms = _named(item), item.get("arm", [])
    if "block" in item:
        for asked in item["items"]:
            more = conditions | _named(asked)
            yield Asked(asked["name"], item["block"], True, arms, False, more, item.get("ask", 0))
        return
    is_private = not item.get("public", item.get("of", {}).get("public", False))
    for name in [f"{item['name']}_{row['name']}" for row in item["rows"]] if "rows" in item else [item["name"]]:
        yield Asked(name, name, is_private, arms, "innocuous" in item, conditions)


def _named(item: Document) -> frozenset[str]:
    return frozenset(name for key in ("visible_if", "any_of") for name in item.get(key, {}))


Condition = Callable[[Facts], bool]


def _private(facts: Facts) -> bool:
    return bool(facts.private)


BEGIN: Mapping[str, Condition] = {
    "all_public": lambda facts: not facts.private,
    "explain_title": lambda facts: _private(facts) and facts.are_all_private and not facts.has_own_facts,
    "explain_title_some": lambda facts: _private(facts) and facts.is_mixed and not facts.has_own_facts,
    "explain_title_fact": lambda facts: facts.has_own_facts and len(facts.kinds) == 1,
    "explain_title_arms": lambda facts: _private(facts) and len(facts.kinds) > 1,
    "arms_alike": lambda facts: _private(facts) and len(facts.arms) > 1 and len(facts.kinds) == 1,
    "group_open": lambda facts: facts.has("open"),
    "group_mixed": lambda facts: facts.has("mixed"),
    "group_chance": lambda facts: facts.has("chance"),
    "group_seen": lambda facts: facts.has("open") or facts.has("mixed"),
    "group_protected": lambda facts: _private(facts) and len(facts.kinds) > 1,
    "how_open": lambda facts: _private(facts) and facts.is_mixed,
    "how_dice": lambda facts: facts.by_device,
    "how_certain": lambda facts: _private(facts) and not facts.is_nearly_sure,
    "how_innocuous": lambda facts: facts.has_own_facts,
    "belief_one": lambda facts: _private(facts) and facts.dearest == facts.epsilon,
    "belief_all": lambda facts: _private(facts) and facts.dearest < facts.epsilon,
    "seen_address": lambda facts: facts.document["access"] == "open",
    "seen_link": lambda facts: facts.document["access"] == "token",
    "seen_blind": lambda facts: facts.is_blind,
    **dict.fromkeys(("status_withdraw", "limits_title"), lambda _: True),
    "how_title": _private,
    "status_open": lambda facts: facts.closes() is not None and not facts.document.get("trial"),
    "status_trial": lambda facts: bool(facts.document.get("trial")),
    "explain_waves": lambda facts: _private(facts) and len(facts.document.get("waves", [])) > 1,
}
"""Statements that are made before Begin exactly where they are true."""

_FORM_ALONE = {"seen_address", "how_title", "limits_title"}
ENGLISH: Mapping[str, Condition] = {
    **{key: is_true for key, is_true in BEGIN.items() if key not in _FORM_ALONE},
    "status_open": lambda facts: facts.closes() is not None,
    **dict.fromkeys(("evens_out", "in_numbers", "cost_before"), _private),
    "no_lie": lambda facts: facts.own_coin or facts.by_device,
    **dict.fromkeys(("limits_presence", "limits_time"), lambda _: True),
    "limits_files": lambda facts: facts.has_files,
    "once_device": lambda facts: facts.by_device or not facts.private,
    "once_tossed": lambda facts: _private(facts) and not facts.by_device,
}
"""Statements before the first question in the terminal."""

FOLDED: Mapping[str, Condition] = {
    **dict.fromkeys(("evens_out", "receipt_epsilon"), _private),
    "no_lie": lambda facts: facts.own_coin or facts.by_device,
    **dict.fromkeys(("limits_presence", "limits_time", "limits_page"), lambda _: True),
    "limits_files": lambda facts: facts.has_files,
    "limits_device": lambda facts: not facts.document.get("kiosk"),
    # The example to try draws, as no fact does.
    "odds_crosswise": lambda _: False,
    **dict.fromkeys(("exit_forgets", "exit_stays", "exit_seen"), lambda facts: bool(facts.document.get("quick_exit"))),
}
"""Statements behind the lines of the first step."""

Values = Sequence[int | None]


@dataclass(frozen=True)
class Sent:
    """One report: ``values`` of a survey's questions, the arm last; ``epsilon`` is the privacy loss of its arm."""

    facts: Facts
    values: Values
    epsilon: float

    @cached_property
    def answers(self) -> list[Asked]:
        """Questions with a value; the arm is none of them."""
        return [asked for asked, value in zip(self.facts.questions, self.values, strict=False) if value is not None]

    @property
    def by_chance(self) -> int:
        """Return how many answers were randomized by more than a fact of the person's own."""
        return sum(asked.is_private and not asked.is_own_fact for asked in self.answers)

    def has(self, is_private: bool) -> bool:
        """Say whether an answer is randomized, or one is not."""
        return any(asked.is_private == is_private for asked in self.answers)


RECEIPT: Mapping[str, Callable[[Sent], bool]] = {
    "receipt_title": lambda sent: not sent.has(False) and not sent.facts.has_own_facts,
    "receipt_title_open": lambda sent: sent.has(False) or sent.facts.has_own_facts,
    "receipt_count": lambda sent: sent.by_chance > 0,
    "receipt_proves": lambda sent: sent.by_chance > 0 and sent.epsilon < NEARLY_SURE,
    "receipt_public": lambda sent: sent.has(False) or len(sent.facts.arms) > 1,
    "receipt_epsilon": lambda sent: sent.has(True),
    "all_public": lambda sent: not sent.has(True),
    "receipt_not_shown": lambda sent: (
        sent.by_chance > 0 and any(asked.depends_on and asked.is_private for asked in sent.answers)
    ),
    "receipt_innocuous": lambda sent: any(asked.is_own_fact for asked in sent.answers),
    "receipt_note": lambda sent: sent.by_chance > 0 and not sent.facts.own_coin,
    "no_lie": lambda sent: sent.by_chance > 0,
    "receipt_until": lambda sent: sent.facts.closes() is not None,
    "status_withdraw": lambda sent: sent.facts.closes() is None,
}
"""Statements of a receipt."""

LETTER: Mapping[str, Condition] = {
    "letter_unprotected": lambda facts: not facts.private,
    "letter_dice": lambda facts: facts.by_device and not any(asked.is_own_fact for asked in facts.private),
    "letter_fact": lambda facts: any(asked.is_own_fact for asked in facts.private),
    "letter_toss": lambda facts: _private(facts) and facts.own_coin,
    "letter_belief": _private,
    "letter_public": lambda facts: _private(facts) and not facts.are_all_private,
    "letter_arms": lambda facts: len(facts.kinds) > 1,
    "letter_time": lambda facts: facts.shows_time,
    "letter_link": lambda facts: facts.document["access"] == "open",
    "letter_personal": lambda facts: facts.document["access"] == "token",
    **dict.fromkeys(("letter_seen", "letter_voluntary"), lambda _: True),
}
"""Statements of an invitation."""

POSTER: Mapping[str, Condition] = {
    **{key: LETTER[key] for key in ("letter_unprotected", "letter_dice", "letter_fact", "letter_toss", "letter_arms")},
    "letter_voluntary": lambda _: True,
    "trial": lambda facts: bool(facts.document.get("trial")),
}
"""Statements of a poster."""


def _shown_by(facts: Facts, key: str) -> bool:
    """Say whether a question, which a note is not, is shown after certain answers only."""
    items = [each for item in facts.document["questions"] for each in (item, *item.get("items", ()))]
    return any(key in each and each.get("type") not in {"note", "acknowledge"} for each in items)


def absent_as(facts: Facts) -> list[object]:
    """Return as which answers no answer counts."""
    items = [
        part for item in facts.document["questions"] for part in (item, item.get("of", {}), *item.get("items", ()))
    ]
    return [part["when_absent"] for part in items if "when_absent" in part]


ETHICS: Mapping[str, Condition] = {
    "letter_unprotected": lambda facts: not facts.private,
    "ethics_device": lambda facts: facts.by_device and not any(asked.is_own_fact for asked in facts.private),
    "ethics_fact": lambda facts: any(asked.is_own_fact for asked in facts.private),
    "ethics_toss": lambda facts: _private(facts) and facts.own_coin,
    "ethics_private_question": lambda facts: any(not asked.is_own_fact for asked in facts.private),
    "ethics_fact_question": lambda facts: any(asked.is_own_fact for asked in facts.private),
    "flow_second": lambda facts: facts.hides_by("crosswise"),
    "flow_instead": lambda facts: facts.hides_by("unrelated_question"),
    "flow_only": lambda facts: any(asked.arms for asked in facts.questions),
    "flow_after": lambda facts: _shown_by(facts, "visible_if"),
    "flow_after_one": lambda facts: _shown_by(facts, "any_of"),
    "results_absent_as": lambda facts: bool(absent_as(facts)),
    "results_none_of_them": lambda facts: [] in absent_as(facts),
    "ethics_public_question": lambda facts: any(not asked.is_private for asked in facts.questions),
    "ethics_arms": lambda facts: len(facts.arms) > 1,
    "flow_direct": lambda facts: any(asked.arms and not asked.is_private for asked in facts.questions),
    "ethics_ask": lambda facts: "ask" in facts.document or any(asked.asked_in_block for asked in facts.private),
    "ethics_report": _private,
    "ethics_waves": lambda facts: _private(facts) and len(facts.document.get("waves", [])) > 1,
    "ethics_limit_token": lambda facts: facts.document["access"] == "token",
    "trial": lambda facts: bool(facts.document.get("trial")),
}
"""Statements for an ethics board."""


def methods(facts: Facts) -> set[str]:
    """Return the beginnings and ends of what the methods section says of protection, by the names of questions."""
    private = [asked.name for asked in facts.private]
    if not private:
        return {"Every answer was sent as given; nothing was randomized"}
    given = [asked.name for asked in facts.questions if not asked.is_private]
    direct = [arm for arm in facts.arms if arm and not facts.counts(arm)[0]]
    return {
        f"Answers to {', '.join(private)} were randomized",
        "The private answers of a report are together",
        *([f"Answers to {', '.join(given)} were sent as given, without protection"] if given else []),
        *([f"Nothing is randomized in the reports of {', '.join(direct)}"] if direct else []),
    }
