"""Random surveys with everything that a survey file can say: for the property test of analyses and files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.documents import Document
from tests.surveys import months

WORDS = (
    "How often", "in the last twelve months", "=SUM(A1:A9)", "<b>bold</b>", "\"quoted\", 'twice'", "@cmd", "-1+2",
    "Prüfungsangst", "l’été", "考试", "امتحان", "🙂", "50 %", "{name}", "a;b", "&amp;", "C:\\temp", "no", "yes", "n/a",
)  # fmt: skip
NAMES = (
    "if", "by", "wave", "revision", "with", "2nd", "99", "no", "true", "nan", "year", "age", "in", "true_a", "true_b",
    "index", "str5", "double", "x" * 64, "x" * 63 + "y", "a_very_long_name_of_a_question_which_goes_on", "c", "t", "id",
    "intercept", "count", "n", "all", "shown", "within", "rows", "group", "q1", "q1_a", "q1_b", "e", "pi", "log",
)  # fmt: skip
LANGUAGES = ("en", "de", "fr", "es", "zh", "ar", "pt-BR", "it")
ODDS = ("3/2", "3", "7", "11/3")
TWO_CHANCES = (("3/4", "1/4"), ("9/10", "1/5"), ("2/3", "1/3"), ("11/12", "1/6"))
EPSILONS = ("0.3", "1", "2.5", "5")
NUMBER_MECHANISMS = ("rounding_rr", "level_table", "square_wave", "geometric", "laplace", "")


@dataclass
class _Maker:
    """Random parts of one survey; ``draw`` decides everything."""

    draw: Random
    languages: Sequence[str]
    waves: int
    has_memory: bool
    names: list[str] = field(default_factory=list)
    earlier: list[Document] = field(default_factory=list)

    def text(self, longest: int = 12) -> Document:
        """Return texts in some of the languages, always in the first."""
        spoken = [self.languages[0], *(each for each in self.languages[1:] if self.draw.random() < 0.8)]
        return {tag: " ".join(self.draw.choices(WORDS, k=self.draw.randint(1, longest)))[:300] for tag in spoken}

    def named(self, most: int) -> list[Document]:
        """Return options or coordinates, at least two."""
        names = self.draw.sample([name for name in NAMES if name != "x" * 64], self.draw.randint(2, most))
        return [{"name": name, "label": self.text(4)} for name in names]

    def name(self) -> str:
        """Return a name that no item has yet."""
        free = [each for each in NAMES if each not in self.names]
        self.names.append(self.draw.choice(free))
        return self.names[-1]

    def two_chances(self, name: str) -> Document:
        a, b = self.draw.choice(TWO_CHANCES)
        return {"name": name, "a": a, "b": b}

    def odds(self, *names: str) -> Document:
        return {"name": self.draw.choice(names), "odds": self.draw.choice(ODDS)}

    def epsilon(self, name: str = "") -> Document:
        return {"epsilon": self.draw.choice(EPSILONS)} | ({"name": name} if name else {})

    def yes_no(self) -> tuple[Document, Document]:
        """Return the keys and the mechanism of a yes/no question."""
        named = ({"name": "coin_flip"}, {"name": "warner", "truth": "2/3"}, {"name": "crosswise", "share": "1/4"},
                 {"name": "forced_response", "truth": "3/4", "yes": "1/6", "no": "1/12"},
                 {"name": "unrelated_question", "truth": "2/3", "share": "1/4"}, self.two_chances("binary_rr"),
                 self.epsilon())  # fmt: skip
        if self.has_memory and self.draw.random() < 0.3:
            layers = {"permanent": self.two_chances("binary_rr"), "instantaneous": self.two_chances("binary_rr")}
            return {}, {"name": "memoized_rr", **layers, "waves": max(self.waves, 2)}
        return {}, self.draw.choice(named)

    def option(self) -> tuple[Document, Document]:
        names = "kary_rr", "subset_selection", "hadamard_response", "optimal_unary"
        return {"choices": self.named(9)}, self.draw.choice((self.odds(*names), self.epsilon()))

    def options(self) -> tuple[Document, Document]:
        choices = self.named(6)
        limit = {"max_choices": self.draw.randint(1, len(choices))} if self.draw.random() < 0.6 else {}
        mechanisms = self.two_chances("sampled_option"), self.two_chances("bitwise_rr"), self.epsilon()
        return {"choices": choices, **limit}, self.draw.choice(mechanisms)

    def number(self, low: int, high: int, step: str) -> tuple[Document, Document]:
        keys = {"min": str(low), "max": str(high), "step": step}
        name = self.draw.choice(NUMBER_MECHANISMS)
        by_epsilon = {**self.epsilon(name), **({"epsilon": "2.5"} if name == "level_table" else {})}
        return keys, self.draw.choice((self.two_chances("rounding_rr"), by_epsilon))

    def whole(self) -> tuple[Document, Document]:
        low = self.draw.choice((0, 18, -5, 1900))
        return self.number(low, low + self.draw.choice((1, 4, 40, 120)), "1")

    def decimal(self) -> tuple[Document, Document]:
        low = self.draw.choice((0, -3, 7))
        return self.number(low, low + self.draw.choice((1, 5, 30)), self.draw.choice(("0.1", "0.25", "1")))

    def day(self) -> tuple[Document, Document]:
        _, mechanism = self.number(0, 1, "1")
        return {"min": "2024-02-01", "max": self.draw.choice(("2024-02-29", "2025-01-30")), "step": "7"}, mechanism

    def vector(self) -> tuple[Document, Document]:
        keys = {"coordinates": self.named(4), "min": "0", "max": self.draw.choice(("1", "10")), "step": "1"}
        return keys, self.draw.choice((self.two_chances("sampled_coordinate"), self.epsilon()))

    def question(self, private: bool) -> Document:
        """Return a question, with an absence and conditions or without."""
        kind = self.draw.choice([each for each in KINDS if private or each not in {"select_multiple", "vector"}])
        keys, mechanism = KINDS[kind](self)
        asked = {"type": kind, "name": self.name(), "label": self.text(), **keys}
        if self.draw.random() < 0.3:
            asked["hint"] = self.text()
        way_out = self.absence(kind, keys)
        if way_out.get("absent_category") and kind == "boolean" and private:
            of_three = {"name": "coin_flip"}, self.odds("kary_rr", "subset_selection"), self.epsilon()
            mechanism = self.draw.choice(of_three)
        asked |= {"mechanism": mechanism} if private else {"public": True}
        asked |= {"in_files": True} if not private and self.draw.random() < 0.5 else {}
        asked |= {"anchor": True, "known_share": "1"} if kind == "boolean" and self.draw.random() < 0.2 else {}
        return asked | way_out | (self.conditions(private) if way_out and "anchor" not in asked else {})

    def absence(self, kind: str, keys: Document) -> Document:
        """Return the way out of a question; {} if it has none."""
        category = kind in {"boolean", "select_one", "rating"}
        if self.draw.random() < 0.4:
            return {}
        if category and self.draw.random() < 0.7:
            return {"absent_category": True}
        fixed: Any = keys.get("min", "no")
        if "choices" in keys:
            fixed = [] if kind == "select_multiple" else keys["choices"][0]["name"]
        return {"when_absent": {each["name"]: fixed for each in keys["coordinates"]} if kind == "vector" else fixed}

    def conditions(self, private: bool) -> Document:
        """Return conditions on earlier questions, as skip logic has them; often {}."""
        known = [each for each in self.earlier if each["type"] != "vector" and (private or "public" in each)]
        if not known or self.draw.random() < 0.5:
            return {}
        key = self.draw.choice(("visible_if", "visible_if", "any_of"))
        return {key: {each["name"]: _wanted(self.draw, each) for each in self.draw.sample(known, min(len(known), 2))}}

    def matrix(self) -> Document:
        kind = self.draw.choice(("boolean", "rating", "integer"))
        keys, mechanism = KINDS[kind](self)
        rows = self.named(3)
        of = {"type": kind, **keys, "mechanism": mechanism}
        # The names of its rows follow its own, which may not be too long.
        name = f"m{len(self.names)}"
        self.names += [name]
        return {"type": "matrix", "name": name, "label": self.text(), "rows": [
            {**row, "name": row["name"][:40] + str(place)} for place, row in enumerate(rows)], "of": of}  # fmt: skip

    def block(self) -> Document:
        """Return a block of two or three questions, of which some can be left unanswered."""
        asked = []
        for _ in range(self.draw.randint(2, 3)):
            kind = self.draw.choice(("boolean", "select_one", "rating"))
            keys = {} if kind == "boolean" else {"choices": self.named(4)}
            question = {"type": kind, "name": self.name(), "label": self.text(), **keys}
            asked.append(question | self.absence(kind, keys))
        self.earlier += [each for each in asked if self.draw.random() < 0.5]
        # A radius of 1 does not tell tables of three yes/no questions.
        mechanism = {"name": "joint_rr", "odds": self.draw.choice(("9", "20")), "radius": self.draw.randint(0, 1)}
        return {"block": self.name(), "mechanism": mechanism, "items": asked}

    def item(self) -> list[Document]:
        if self.draw.random() < 0.12:
            return [self.block()]
        if self.draw.random() < 0.1:
            return [{"type": self.draw.choice(("note", "acknowledge")), "name": self.name(), "label": self.text()}]
        if self.draw.random() < 0.1:
            return [self.matrix()]
        asked = self.question(private=self.draw.random() < 0.65)
        self.earlier.append(asked)
        return [asked]


KINDS: dict[str, Callable[[_Maker], tuple[Document, Document]]] = {
    "boolean": _Maker.yes_no,
    "select_one": _Maker.option,
    "rating": _Maker.option,
    "select_multiple": _Maker.options,
    "integer": _Maker.whole,
    "decimal": _Maker.decimal,
    "date": _Maker.day,
    "vector": _Maker.vector,
}
"""Makers of each question type; each returns the keys of its true values, and a mechanism."""


def _wanted(draw: Random, asked: Document) -> Any:
    if "min" in asked:
        return {"max": asked["min"]} if draw.random() < 0.2 else {"min": asked["min"]}
    names = [each["name"] for each in asked["choices"]] if "choices" in asked else ["no", "yes"]
    return draw.sample(names, draw.randint(1, max(len(names) - 1, 1)))


def random_survey(seed: int) -> Survey:
    draw = Random(seed)  # noqa: S311 - the same surveys in each run
    languages = draw.sample(LANGUAGES, draw.randint(1, 3))
    waves = draw.choice((0, 0, 0, 2, 3))
    is_partly = draw.random() < 0.25
    fresh = waves > 0 and draw.random() < 0.4
    maker = _Maker(draw, languages, waves, has_memory=not (is_partly or fresh))
    items: list[Document] = []
    while len(items) < draw.randint(1, 8) or not any("mechanism" in each or "of" in each for each in items):
        items += maker.item()
    document = {
        "format": "sottovoce-survey/1", "name": f"random-{seed}", "revision": 1, "default_language": languages[0],
        "title": maker.text(), "questions": items, "privacy": {"release_batch": draw.choice((1, 10, 25))},
        **({"waves": months(waves)} if waves else {}),
        **({"fresh_samples": True} if fresh else {}),
        **({"consent": maker.text()} if draw.random() < 0.3 else {}),
        **({"report_labels": "neutral"} if draw.random() < 0.2 else {}),
    }  # fmt: skip
    _group(draw, items)
    by_chance = Random(f"chance {seed}")  # noqa: S311 - apart, so that the rest of a seed's survey stays as it is
    _order(by_chance, document)
    if by_chance.random() < 0.3 and not is_partly:
        items.append(_drawn_block(items[0].get("label") or maker.text()))
    return parse_survey(_asking_some(document) if is_partly else _in_arms(by_chance, document))


def _drawn_block(label: Document) -> Document:
    """Return a block of three questions, of which each device draws two."""
    items = [{"type": "boolean", "name": f"drawn{place}", "label": label} for place in range(3)]
    mechanism = {"name": "joint_rr", "odds": "9", "radius": 0}
    return {"block": "drawn", "ask": 2, "mechanism": mechanism, "items": items}


def _group(draw: Random, items: Sequence[Document]) -> None:
    """Make one public choice the grouping variable, sometimes."""
    grouping = [each for each in items if "public" in each and each["type"] in {"boolean", "select_one", "rating"}]
    if grouping and draw.random() < 0.6:
        draw.choice(grouping)["cohort"] = True


def _order(draw: Random, document: Document) -> None:
    """Draw the order of items and of options, sometimes."""
    # A note moves with the item that follows it.
    moving = [each for each in document["questions"] if each.get("type") not in {"note", "acknowledge"}]
    if draw.random() < 0.3 and len(moving) > 1:
        document["order"] = "random"
    for item in document["questions"]:
        if "choices" in item and draw.random() < 0.3:
            item["order"] = draw.choice(("random", "reversed_half") if item["type"] == "rating" else ("random",))


def _in_arms(draw: Random, document: Document) -> Document:
    """Ask some items in one of two arms only; the survey itself where it has too few, or answers are remembered."""
    items = document["questions"]
    named = {name for each in items for key in ("visible_if", "any_of") for name in each.get(key, {})}
    bound = {"block", "visible_if", "any_of", "cohort", "anchor"}
    free = [each for each in items if not bound & set(each) and each["type"] not in {"note", "acknowledge"}]
    free = [each for each in free if not {each["name"], *(row["name"] for row in each.get("rows", []))} & named]
    if len(free) < 2 or draw.random() < 0.4 or "memoized_rr" in str(items):
        return document
    for place, each in enumerate(draw.sample(free, draw.randint(2, len(free)))):
        each["arm"] = ("direct", "protected")[place % 2]
    return {**document, "arms": [{"name": "direct", "weight": 1}, {"name": "protected", "weight": draw.randint(1, 3)}]}


def _asking_some(document: Document) -> Document:
    """Let devices draw one question less, where conditions allow that; the survey itself where it has one question."""
    items = document["questions"]
    asked = [each for item in items for each in item.get("items", [item])]
    private = {each["name"] for each in asked if "public" not in each}
    for each in asked:
        for key in ("visible_if", "any_of"):
            if private & set(each.get(key, {})):
                del each[key]
    count = sum(len(each.get("rows", [0])) for each in items if "mechanism" in each or "of" in each)
    return {**document, "ask": max(count // 2, 1)} if count > 1 else document
