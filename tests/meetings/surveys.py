"""A seed makes a survey, the people who answer it, their reports, and what is asked of the product."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

import numpy as np
from sottovoce.client.draws import Draws
from sottovoce.client.question_sample import draw_arm, draw_asked
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.documents import Document, names, survey
from tests.meetings.reference import NOT_ASKED
from tests.surveys import months
from tests.vectors.arms import arms, asks

COIN = {"name": "coin_flip"}
YES_NO = (COIN, {"name": "warner", "truth": "2/3"}, {"name": "binary_rr", "a": "9/10", "b": "1/20"})
PEOPLE = 700

Person = dict[str, Any]


class Case(NamedTuple):
    """A request, as an HTTP body has it."""

    kind: str
    options: dict[str, Any]


@dataclass(frozen=True)
class Meeting:
    """A survey of the real parser and reports of the real device; ``arrivals`` are their numbers before each close."""

    seed: int
    kind: str
    survey: Survey
    reports: tuple[tuple[int | None, ...], ...]
    waves: tuple[int, ...]
    cases: tuple[Case, ...]
    arrivals: tuple[int, ...] = ()

    @property
    def rows(self) -> np.ndarray:
        """Reported values, NOT_ASKED where none, (n, questions)."""
        return np.array([[NOT_ASKED if value is None else value for value in each] for each in self.reports])


@dataclass
class Maker:
    """Makes one meeting; ``shares`` of an item are the chances of each answer in each region."""

    draw: Random
    items: list[Document] = field(default_factory=list)
    shares: dict[str, list[list[float]]] = field(default_factory=dict)
    silent: dict[str, float] = field(default_factory=dict)
    cases: list[Case] = field(default_factory=list)
    more: Document = field(default_factory=dict)
    people: int = PEOPLE
    waves: int = 1
    arrivals: tuple[int, ...] = ()

    def ask(self, kind: str, **options: Any) -> None:
        self.cases.append(Case(kind, options))

    def public(self, name: str, size: int, rare: bool = False, **more: Any) -> str:
        """A public choice, of which one answer may be rare."""
        weights = [0.005 if rare and place == size - 1 else self.draw.uniform(0.5, 1.5) for place in range(size)]
        self.items.append(asks(name, kind="select_one", choices=names(size), public=True, in_files=True, **more))
        self.shares[name] = [[weight / sum(weights) for weight in weights]] * 4
        return name

    def yes(self, name: str, share: float | None = None, **more: Any) -> str:
        """A yes or no, with a mechanism unless it is public; its share may differ by region."""
        one = [self.draw.uniform(0.03, 0.7) for _ in range(4)] if share is None else [share] * 4
        if not {"public", "procedure"} & set(more):
            mechanism = self.draw.choice(YES_NO)
            more = {"mechanism": {"name": "kary_rr", "odds": "9"} if "absent_category" in more else mechanism, **more}
        self.items.append(asks(name, **more))
        self.shares[name] = [[1 - each, each] for each in one]
        return name

    def choice(self, name: str, size: int, **more: Any) -> str:
        set_of_two = {"name": "subset_selection", "odds": "9", "size": 2}
        mechanism = self.draw.choice([{"name": "kary_rr", "odds": "9"}] + [set_of_two] * (size > 3))
        self.items.append(asks(name, kind="select_one", choices=names(size), mechanism=mechanism, **more))
        self.shares[name] = []
        for _ in range(4):
            weights = [self.draw.uniform(0.3, 1.5) for _ in range(size)]
            self.shares[name].append([weight / sum(weights) for weight in weights])
        return name

    def own(self, name: str, fact: str = "mother", **more: Any) -> str:
        """A question that a fact of the person's own hides, with an error of its share."""
        innocuous = {"label": {"en": fact}, "share": "1/4", "source": {"en": "S"}, "se": "1/40", "fact": fact}
        procedure = self.draw.choice(["crosswise", "unrelated_question"])
        if procedure == "unrelated_question":
            innocuous["truth"] = "2/3"
        return self.yes(name, procedure=procedure, innocuous=innocuous, **more)

    def block(self, *asked: str) -> None:
        """Yes/no questions of one block."""
        self.items.append({"block": "together", "mechanism": {"name": "joint_rr", "odds": "20", "radius": 0},
                           "items": [asks(name) for name in asked]})  # fmt: skip
        for name in asked:
            self.shares[name] = [[1 - share, share] for share in (self.draw.uniform(0.1, 0.6) for _ in range(4))]

    def may_be_silent(self) -> Document:
        return {"absent_category": True} if self.draw.random() < 0.5 else {}

    def meeting(self, seed: int, kind: str) -> Meeting:
        for name in ("secret", "common"):
            if name in self.shares and self.draw.random() < 0.7:
                self.ask("compare", outcome=name, groups="region")
        self.ask("pairs")
        made = parse_survey(survey(*self.items, name=f"meeting-{seed}", **self.more))
        draws = Draws(self.draw.randbytes)
        reports, waves = [], []
        for _ in range(self.people):
            person = self.person()
            for wave in range(self.waves):
                reports.append(self.report(made, person, draws, wave))
                waves.append(wave)
        return Meeting(seed, kind, made, tuple(reports), tuple(waves), tuple(self.cases), self.arrivals)

    def person(self) -> Person:
        """True answers of a person, None where they stay silent."""
        region = self.draw.choices(range(4), (self.shares["region"][0] + [0.0] * 4)[:4])[0]
        found: Person = {"region": f"c{region}"}
        for item in self.items:
            for question in item.get("items", [item]):
                name = question["name"]
                if name != "region":
                    options = [each["name"] for each in question.get("choices", [])] or ["no", "yes"]
                    found[name] = self.draw.choices(options, self.shares[name][region])[0]
                if "min" in question:
                    found[name] = str(3 if self.draw.random() < 0.6 else self.draw.randint(0, 20))
                if question.get("absent_category") and self.draw.random() < self.silent.get(name, 0.15):
                    found[name] = None
                if "innocuous" in question:
                    found[name] = self.by_hand(question, found[name] == "yes")
        return found

    def by_hand(self, question: Document, truth: bool) -> str:
        """What a person says whose own fact hides the answer."""
        fact = self.draw.random() < 0.25
        if question["procedure"] == "crosswise":
            return "yes" if truth != fact else "no"
        return "yes" if (truth if self.draw.random() < 2 / 3 else fact) else "no"

    def report(self, made: Survey, person: Person, draws: Draws, wave: int) -> tuple[int | None, ...]:
        arm = draw_arm(made, draws) if made.arms else 0
        places = draw_asked(made, draws, arm)
        answers = {name: answer for name, answer in person.items() if answer is not None}
        answers |= {ARM: made.arms[arm].name} if made.arms else {}
        return tuple(randomize(made, encode(made, answers, places), draws, wave).values)


def _arms(make: Maker) -> None:
    """Few people admit when they are asked openly; who is asked may depend on a public answer, and some are silent."""
    silent = {"absent_category": True} if make.draw.random() < 0.7 else {}
    shown = {"visible_if": {"region": ["c0"]}} if silent and make.draw.random() < 0.7 else {}
    make.yes("openly", make.draw.choice([0.0, 0.005, 0.01, 0.02, 0.3]), public=True, in_files=True, arm="direct",
             **silent, **shown)  # fmt: skip
    make.yes("secret", make.draw.uniform(0.1, 0.4), arm="protected", **silent, **shown)
    make.yes("common", **make.may_be_silent())
    make.more |= {"arms": arms(1, make.draw.randint(1, 2)),
                  "analysis_plan": [{"question": "secret", "against": "openly"}]}  # fmt: skip
    make.people = make.draw.choice([300, 600, 900])
    make.ask("compare", outcome="secret", groups="arm", against="openly")
    make.ask("compare", outcome="common", groups="arm")


def _effects(make: Maker) -> None:
    """Models with public categories as predictors."""
    make.public("sex", 2)
    if make.draw.random() < 0.4:
        make.yes("secret", public=True, in_files=True)
    else:
        make.yes("secret", mechanism={"name": "binary_rr", "a": "9/10", "b": "1/10"})
    make.people = 1200
    make.ask("regression", outcome="secret", on=["region"])
    make.ask("regression", outcome="secret", on=["region", "sex"])


def _weights(make: Maker) -> None:
    """Known margins of groups, whose weights differ much."""
    make.public("sex", 3)
    make.yes("secret", **make.may_be_silent())
    shares = [make.draw.uniform(0.2, 2.5) for _ in range(3)]
    margins = {"sex": {f"c{place}": share / sum(shares) for place, share in enumerate(shares)}}
    for groups in ("sex", "region"):
        make.ask("compare", outcome="secret", groups=groups, margins=margins)
    make.ask("crosstab", rows="region", columns="secret", margins=margins)


def _facts(make: Maker) -> None:
    """One fact hides two questions; others are randomized by the device."""
    make.own("secret")
    make.own("other", "house")
    make.ask("compare", outcome="secret", groups="region")
    make.ask("test", question="secret", shares={"yes": round(make.draw.uniform(0.2, 0.6), 2)})
    make.ask("regression", outcome="secret", on=["region"])
    make.ask("crosstab", rows="region", columns="other")


def _bars(make: Maker) -> None:
    """A number through the square wave, of people with a spike."""
    wave = {"name": "square_wave", "odds": make.draw.choice(["3", "9"]), "bins": 8, "width": 2}
    make.items.append(asks("hours", kind="integer", min=0, max=20, mechanism=wave))
    make.shares["hours"] = [[1.0, 1.0]] * 4
    make.yes("secret")


def _known(make: Maker) -> None:
    """Does anybody at all? Exact tests at both ends, and between."""
    make.yes("secret", make.draw.choice([0.0, 0.02, 0.3, 1.0]))
    for share in (0, 1, 0.1):
        make.ask("test", question="secret", shares={"yes": share})
    make.choice("habit", 4)
    make.ask("crosstab", rows="region", columns="habit")
    make.ask("crosstab", rows="habit", columns="region")
    make.ask("compare", outcome="region", groups="habit", category="c0")


def _answered(make: Maker) -> None:
    """Not everybody is asked, and some are silent: one share, one figure, one n."""
    shown = {"visible_if": {"region": ["c0", "c1"]}}
    make.yes("secret", absent_category=True, **(shown if make.draw.random() < 0.7 else {}))
    make.yes("coded", when_absent="no", **shown)
    make.public("sex", 2)
    for name in ("secret", "coded"):
        make.ask("compare", outcome=name, groups="sex")
        make.ask("crosstab", rows="sex", columns=name)
        make.ask("crosstab", rows=name, columns="region")


def _reopened(make: Maker) -> None:
    """Closed, reopened, closed again after few or many arrivals."""
    make.yes("secret")
    first, more = make.draw.randint(60, 120), [make.draw.choice([0, 1, 24, 25, 26, 60]) for _ in range(2)]
    make.arrivals = (first, *more)
    make.people = first + sum(more)


def _together(make: Maker) -> None:
    """Questions of one block, and ones that not every device asks."""
    make.block("one", "two")
    make.choice("habit", 3)
    make.ask("crosstab", rows="one", columns="two")
    make.ask("crosstab", rows="one", columns="habit")
    make.ask("compare", outcome="two", groups="region")


def _drawn(make: Maker) -> None:
    """Devices draw two of three randomized questions."""
    for name in ("secret", "common"):
        make.yes(name)
    make.choice("habit", 3)
    make.more["ask"] = 2
    make.people = 1200
    make.ask("compare", outcome="habit", groups="region", category="c1")


def _waved(make: Maker) -> None:
    """The same people in several waves."""
    make.waves = make.draw.choice([2, 3])
    make.more["waves"] = months(make.waves)
    make.yes("secret")
    make.people = 400
    make.ask("compare", outcome="secret", groups="region")
    make.ask("compare", outcome="secret", groups="region", wave=1)
    make.ask("crosstab", rows="region", columns="secret")
    make.ask("crosstab", rows="secret", columns="region")


KINDS: dict[str, Callable[[Maker], None]] = {
    "arms": _arms, "reopened": _reopened, "answered": _answered, "weights": _weights, "facts": _facts,
    "effects": _effects, "known": _known, "waved": _waved, "bars": _bars, "together": _together, "drawn": _drawn,
}  # fmt: skip


def meeting(seed: int, kind: str) -> Meeting:
    make = Maker(Random(f"meeting {seed}"))  # noqa: S311 - the same meetings in each run
    cohort = {"cohort": True} if make.draw.random() < 0.4 else {}
    make.public("region", make.draw.randint(2, 4), rare=make.draw.random() < 0.3, **cohort)
    KINDS[kind](make)
    return make.meeting(seed, kind)
