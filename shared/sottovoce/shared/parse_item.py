"""Parse a survey's list of questions into its ``Item``s and back (notes, matrices, what each is shown for, and arms),
and read the planned comparisons of its arms.

Every mistake in ``arms`` and in each item's ``arm`` is noted with its JSON pointer.

Planned comparisons are ``analysis_plan``, which the survey's digest binds to the questions. Each compares a question by
arm, or against a question of other arms. With ``design``, both are one sensitive question asked with unlike odds, which
tell an unknown share. The device only carries the plan.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import count, groupby
from operator import attrgetter
from typing import Any

from sottovoce.shared import rational
from sottovoce.shared.answers import Domain, Grid, random_answers
from sottovoce.shared.arms.arms import ARM, MOST_ARMS, MOST_WEIGHT, Arm
from sottovoce.shared.checks import MISSING, NAME, Reader, document_at
from sottovoce.shared.errors import Sentence, error_message
from sottovoce.shared.mechanisms.joint_rr import (
    MAX_QUESTIONS as MAX_IN_BLOCK,
    MIN_QUESTIONS,
    JointMember,
    JointRR,
    JointYesNo,
)
from sottovoce.shared.questions import MAX_QUESTIONS, QuestionReader, dump_asked, dump_question
from sottovoce.shared.spec import Choice, Item, Question, Survey, TextMap
from sottovoce.shared.survey_keys import OF_EVERY_ITEM, OF_MATRICES, OF_NOTES
from sottovoce.shared.types import TYPES
from sottovoce.shared.visibility import Condition

MAX_ROWS = 50
MOST_NAMES = 8
"""Largest number of known names that the error for an unknown name lists."""

NOTES = ("note", "acknowledge")
ITEM_TYPES = (*TYPES, *NOTES, "matrix")
MATRIX_TYPES = tuple(name for name, kind in TYPES.items() if kind.single)

CONDITIONS = {"visible_if", "any_of"}
"""The keys that say when an item is shown."""

NEAREST_CHANCE = Fraction(1, 10)
"""Least distance of an anchor's known share of yes to that among people who answer at random."""

_NEAR_CHANCE = (
    "must be from 0 to 1, and at least 0.1 away from {chance}, the share of yes among people who answer at random"
)

_ANSWERS = "must report 1 to {most} answers, each row of a matrix one"
_EARLIER = "may name earlier questions only, neither notes, matrices nor vectors; "

LABELS = {
    "en": "Group drawn by chance",
    "ar": "مجموعة اختيرت بالصدفة",
    "de": "Zufällig geloste Gruppe",
    "es": "Grupo elegido al azar",
    "fr": "Groupe tiré au sort",
    "hi": "संयोग से चुना गया समूह",
    "it": "Gruppo sorteggiato",
    "pt": "Grupo escolhido ao acaso",
    "zh-Hans": "随机抽取的组",
}
"""What respondents read of the arm in their receipt, as ``arm_label`` in the browser's sentences."""

MOST_PLANNED = 20
MEASURES = ("difference", "ratio")
UNRELATED_UNKNOWN, CHEATER_DETECTION = DESIGNS = ("unrelated_unknown", "cheater_detection")
ONE_FIGURE = frozenset({"yes_no", "option", "number"})
"""Kinds of true values that one comparison covers; others are compared as ``question.option``."""

_Asked = tuple[Question, tuple[str, ...]]
"""A question and the names of its arms."""

_DRAWN = (
    "needs procedure: unrelated_question in both questions: where a device draws, a cheater's no gets the noise of an "
    "honest no: the cheaters cannot be told apart"
)
_KNOWN = (
    "needs procedure: unrelated_question in both questions: where a device draws, the share of the other answer is "
    "known, and one arm is enough"
)
_CROSSWISE = (
    "needs procedure: unrelated_question in both questions: a crosswise answer compares two statements, so it has "
    "neither a plain no that cheaters could give nor a die that differs between the groups"
)
_SAME_ODDS = "both groups have the same odds, so reports cannot tell the shares apart: give one question another truth"

_VARIABLE = re.compile(r"[a-z0-9][a-z0-9_]{0,63}(\.[a-z0-9][a-z0-9_]{0,63})?")
_CONFIDENCE = re.compile(r"0\.[5-9][0-9]{0,3}")


@dataclass(frozen=True)
class PlannedComparison:
    """A planned comparison of a survey.

    Attributes:
        question: question, or ``question.option``, whose share or mean is compared.
        measure: ``difference`` or ``ratio``.
        confidence: level of the limits, as a decimal.
        by: ``arm``, or "" with ``against``.
        against: the question of other arms that is the reference; "" with ``by``.
        category: category whose share is compared; "" for the last answer, or a mean.
        design: one of ``DESIGNS``, which has no measure; "" for a comparison.
    """

    question: str
    measure: str = ""
    confidence: str = ""
    by: str = ""
    against: str = ""
    category: str = ""
    design: str = ""

    def dump(self) -> dict[str, str]:
        """Return the comparison's document in the canonical survey."""
        return {key: value for key, value in asdict(self).items() if value}


def planned_comparisons(survey: Survey) -> list[PlannedComparison]:
    """Return the planned comparisons of a survey; empty without a plan."""
    return [PlannedComparison(**each) for each in survey.document.get("analysis_plan", ())]


def read_plan(
    reader: Reader, value: object, arms: Sequence[Arm], items: Sequence[Item]
) -> dict[str, list[dict[str, str]]]:
    """Return the plan's key of the canonical survey; empty after a mistake."""
    if not arms:
        reader.problem("/analysis_plan", "goes with arms only: it plans comparisons between them")
        return {}
    listed = reader.items(value, "/analysis_plan", 1, MOST_PLANNED)
    planned = [_comparison(reader, value, f"/analysis_plan/{index}") for index, value in enumerate(listed)]
    # A fact that could not be read is a mistake already: its question is not one that a device draws.
    is_unread = any(re.search("procedure|innocuous", f"{place} {message}") for place, message in reader.problems)
    for index, each in enumerate(planned):
        for key, message in _mistakes(each, [arm.name for arm in arms], items):
            if key != "design" or not is_unread:
                reader.problem(f"/analysis_plan/{index}/{key}", message)
        if each in planned[:index]:
            reader.problem(f"/analysis_plan/{index}", "is planned twice")
    return {"analysis_plan": [each.dump() for each in planned]}


def _comparison(reader: Reader, value: object, pointer: str) -> PlannedComparison:
    optional = {"by", "against", "category", "measure", "confidence", "design"}
    fields = reader.fields(value, pointer, {"question"}, optional)
    design = reader.one_of(fields["design"], f"{pointer}/design", DESIGNS) if "design" in fields else ""
    if design and {"by", "category", "measure"} & fields.keys():
        reader.problem(f"{pointer}/design", "goes with question, against and confidence only: it has shares of its own")
    if ("by" in fields) == ("against" in fields):
        reader.problem(pointer, "must have either by: arm or against, the question of other arms")
    message = 'must be a decimal from 0.5 to below 1 written as a string, such as "0.95"'
    names = {
        key: reader.match(fields[key], f"{pointer}/{key}", _VARIABLE)
        for key in ("against", "category")
        if key in fields
    }
    return PlannedComparison(
        question=reader.match(fields.get("question", MISSING), f"{pointer}/question", _VARIABLE),
        measure="" if design else reader.one_of(fields.get("measure", MEASURES[0]), f"{pointer}/measure", MEASURES),
        confidence=reader.match(fields.get("confidence", "0.95"), f"{pointer}/confidence", _CONFIDENCE, message),
        by=reader.one_of(fields["by"], f"{pointer}/by", (ARM,)) if "by" in fields else "",
        # One that is unknown is a mistake already, and no other one is meant.
        design=design if fields.get("design") == design else "",
        **names,
    )


def _mistakes(planned: PlannedComparison, arms: Sequence[str], items: Sequence[Item]) -> Iterator[tuple[str, str]]:
    """Yield the key and the message of each mistake that the questions of the survey show."""
    asked = {question.name: (question, item.arms or tuple(arms)) for item in items for question in item.questions}
    found = {}
    for key, variable in (("question", planned.question), ("against", planned.against)):
        name, _, part = variable.partition(".")
        if name in asked and _is_variable(asked[name][0], part):
            found[key] = asked[name]
        elif variable:
            yield key, "is no question of the survey; question.option is for several answers, category for one"
    if "question" in found:
        yield from _mistakes_of(planned, found["question"], found.get("against"))


def _mistakes_of(planned: PlannedComparison, compared: _Asked, reference: _Asked | None) -> Iterator[tuple[str, str]]:
    question, own = compared
    if planned.by and len(own) == 1:
        yield "by", "is asked in one arm only: name the question of another arm as against"
    if reference and set(own) & set(reference[1]):
        yield "against", "is asked in an arm of the question: compare questions that no arm has both of"
    if reference and reference[0].kind.truth != question.kind.truth:
        yield "against", "is a question of another type"
    if planned.category and planned.category not in question.options:
        yield "category", "is not an answer of the question"
    if planned.measure == "ratio" and question.domain.grid is not None:
        yield "measure", "is the difference for a mean: only shares have a ratio"
    if reference and planned.design:
        yield from (("design", message) for message in _unidentified(planned.design, question, reference[0]))


def _unidentified(design: str, question: Question, reference: Question) -> Iterator[str]:
    """Yield why reports do not tell the shares of a design."""
    one, other = question.by_fact, reference.by_fact
    if one is None or other is None:
        yield _DRAWN if design == CHEATER_DETECTION else _KNOWN
    elif one.is_crosswise or other.is_crosswise:
        yield _CROSSWISE
    elif design == CHEATER_DETECTION:
        # The told yes of each, over what is not told no: equal ratios are one equation.
        if one.a * other.b == other.a * one.b:
            yield _SAME_ODDS
        if one.std_error or other.std_error:
            yield "takes the shares of the facts as exact: leave out se"
    else:
        if one.truth == other.truth:
            yield _SAME_ODDS
        if (one.label, one.share, one.std_error) != (other.label, other.share, other.std_error):
            yield "needs the same statement, share and se in both questions: its share is what the design estimates"
        if not one.std_error:
            yield "needs se: the share is unknown, and epsilon is the largest within two standard errors of it"


def _is_variable(question: Question, part: str) -> bool:
    return not part if question.kind.truth in ONE_FIGURE else part in question.options


class ItemReader(QuestionReader):
    """A parser of what a survey shows; values, pointers and mistakes as in ``Reader``.

    Attributes:
        pointers: JSON pointer of each item.
        block_names: of all blocks.
        known_hidden: names of the questions that a public answer hides, so that anybody knows that they were.
    """

    def __init__(self) -> None:
        super().__init__()
        self.pointers: list[str] = []
        self.block_names: set[str] = set()
        self.known_hidden: set[str] = set()

    def shown(self, value: object) -> list[Item]:
        """Parse all items of a survey, at least one of them reported."""
        documents = self.items(value, "/questions", 1, MAX_QUESTIONS)
        earlier: dict[str, Question] = {}
        names: set[str] = set()
        items = []
        entries: list[tuple[object, str, Item]] = []
        for index, document in enumerate(documents):
            pointer = f"/questions/{index}"
            if isinstance(document, dict) and "block" in document:
                entries += self.block(document, pointer)
            else:
                entries.append((document, pointer, self.item(document, pointer)))
        for document, pointer, read in entries:
            item = read
            if isinstance(document, dict) and not CONDITIONS.isdisjoint(document):
                item = self.visible(item, document, earlier, pointer)
            if {item.name, *(question.name for question in item.questions)} & (names | self.block_names) - {""}:
                self.problem(f"{pointer}/name", "is used twice")
            earlier |= {question.name: question for question in item.questions}
            names |= {item.name, *earlier}
            items.append(item)
            self.pointers.append(pointer)
        for index in [i for i, item in enumerate(items) if any("cohort" in q.marks for q in item.questions)][1:]:
            self.problem(f"{self.pointers[index]}/cohort", "only one question may be the cohort")
        if documents and not 1 <= len(earlier) <= MAX_QUESTIONS:
            self.problem("/questions", Sentence(_ANSWERS, most=MAX_QUESTIONS))
        return items

    def block(self, value: Mapping[str, object], pointer: str) -> list[tuple[object, str, Item]]:
        """Parse questions that are randomized together: document, JSON pointer and item of each."""
        fields = self.fields(value, pointer, {"block", "mechanism", "items"}, {"arm", "ask"})
        name = self.match(fields["block"], f"{pointer}/block", NAME)
        if name in self.block_names:
            self.problem(f"{pointer}/block", "is used twice")
        self.block_names.add(name)
        documents = self.items(fields.get("items", []), f"{pointer}/items", 1, MAX_IN_BLOCK)
        self.in_block = True
        items = [self.item(document, f"{pointer}/items/{index}") for index, document in enumerate(documents)]
        self.in_block = False
        for index, item in enumerate(items):
            if item.type in NOTES:
                self.problem(f"{pointer}/items/{index}/type", "a block has questions and matrices only")
        mechanism = self.joint(fields, name, [question for item in items for question in item.questions], pointer)
        position = count()
        return [
            (document, f"{pointer}/items/{index}", _in_block(item, mechanism, name, position))
            for index, (document, item) in enumerate(zip(documents, items, strict=True))
        ]

    def joint(self, fields: Mapping[str, Any], name: str, questions: Sequence[Question], pointer: str) -> JointRR:
        """Parse the mechanism of the block called ``name``; after a mistake any one."""
        given = fields.get("mechanism", MISSING)
        named = isinstance(given, dict) and (given.get("name") == JointRR.name or set(given) == {"epsilon"})
        if given is not MISSING and not named:
            message = "must be a map with an epsilon, or with the name joint_rr, odds and a radius"
            self.problem(f"{pointer}/mechanism", message)
        sizes = tuple(question.domain.size for question in questions)
        ask = None
        if "ask" in fields:
            ask = self.integer(fields["ask"], f"{pointer}/ask", MIN_QUESTIONS, max(MIN_QUESTIONS, len(sizes) - 1))
        try:
            if named and all(sizes):
                return JointRR.parse(given, sizes, ask)
        except ValueError as error:
            reason = error_message(error)
            self.problem(f"{pointer}/mechanism", Sentence("block {block}: {reason}", block=name, reason=reason))
        return JointRR(Fraction(3), 0, (2,) * MIN_QUESTIONS)

    def item(self, value: object, pointer: str) -> Item:
        """Parse one item; its conditions are read apart."""
        kind = value.get("type") if isinstance(value, dict) else None
        if kind == "matrix":
            return self.matrix(value, pointer)
        if kind in NOTES:
            return Item(str(kind), *self.texts(self.fields(value, pointer, OF_EVERY_ITEM, OF_NOTES), pointer), ())
        question = self.question(value, pointer, ITEM_TYPES)
        if isinstance(value, dict) and not {"anchor", "known_share"}.isdisjoint(value):
            question = replace(question, known_share=self.known_share(value, question, pointer))
        return Item(question.type, question.name, question.label, question.hint, (question,))

    def known_share(self, fields: Mapping[str, Any], asked: Question, pointer: str) -> Fraction | None:
        """Parse ``anchor`` and ``known_share``, the true share of yes of an anchor; None for another question."""
        if "anchor" not in fields:
            self.problem(f"{pointer}/known_share", "goes with anchor: true only")
            return None
        if not self.mark(fields["anchor"], f"{pointer}/anchor"):
            return None
        if asked.kind.truth != "yes_no":
            self.problem(f"{pointer}/anchor", "only a yes/no question can be an anchor")
        elif self.in_block:
            self.problem(f"{pointer}/anchor", "an anchor is not in a block, whose questions share their noise")
        elif "known_share" not in fields:
            self.problem(f"{pointer}/known_share", "is missing")
        else:
            return self.share(fields["known_share"], asked, f"{pointer}/known_share")
        return None

    def share(self, value: object, asked: Question, pointer: str) -> Fraction | None:
        """Parse the known share of yes of the anchor ``asked``; None after a mistake."""
        with self.noting(pointer):
            known = rational.parse_fraction(value)
            _, chance, *_ = random_answers(asked.domain, asked.absent)
            if known > 1 or abs(chance - known) < NEAREST_CHANCE:
                raise ValueError(Sentence(_NEAR_CHANCE, chance=str(chance)))
            return known
        return None

    def matrix(self, value: object, pointer: str) -> Item:
        """Parse several questions of one kind under one label; each row is reported by itself."""
        fields = self.fields(value, pointer, {*OF_EVERY_ITEM, "rows", "of"}, OF_MATRICES)
        name, label, hint = self.texts(fields, pointer)
        rows = self.named(fields["rows"], f"{pointer}/rows", 1, MAX_ROWS) if "rows" in fields else ()
        if "of" not in fields:
            return Item("matrix", name, label, hint, ())
        asked = self.asked(fields["of"], f"{pointer}/of", MATRIX_TYPES)
        questions = [replace(asked, name=f"{name}_{row.name}", label=self.joined(label, row.label)) for row in rows]
        for index, question in enumerate(questions):
            if name and rows[index].name and not NAME.fullmatch(question.name):
                self.problem(f"{pointer}/rows/{index}/name", "is too long after the matrix's own name")
        return Item("matrix", name, label, hint, tuple(questions), rows)

    def joined(self, label: TextMap, row: TextMap) -> TextMap:
        """Return the label of a matrix row on its own, in every language that either text has."""
        fallback = self.default_language
        return {
            tag: f"{label.get(tag, label.get(fallback, ''))} – {row.get(tag, row.get(fallback, ''))}"
            for tag in {**label, **row}
        }

    def visible(
        self, item: Item, document: Mapping[str, object], earlier: Mapping[str, Question], pointer: str
    ) -> Item:
        """Return the item with the conditions under which it is shown, on earlier questions by name."""
        keys = sorted(CONDITIONS.intersection(document))
        if any(question.absent is None for question in item.questions):
            reason = "needs when_absent or absent_category: a hidden question still reports something"
            self.problem(f"{pointer}/{keys[-1]}", reason)
        if any(question.known_share is not None for question in item.questions):
            self.problem(f"{pointer}/{keys[-1]}", "an anchor is asked of everybody and has no conditions")
        found = {key: self.conditions(item, document[key], earlier, f"{pointer}/{key}") for key in keys}
        item = replace(item, visible_if=found.get("visible_if", ()), any_of=found.get("any_of", ()))
        named = {condition.question for condition in item.conditions}
        if named & self.known_hidden or any(earlier[name].mechanism is None for name in named):
            self.known_hidden |= {question.name for question in item.questions}
            if item.block:
                reason = "a public answer must not hide a question of a block: all would know the hidden answer"
                self.problem(f"{pointer}/{keys[-1]}", reason)
        return item

    def conditions(
        self, item: Item, value: object, earlier: Mapping[str, Question], pointer: str
    ) -> tuple[Condition, ...]:
        """Parse one of an item's maps of conditions; ``earlier`` are the questions before it, by name."""
        if not isinstance(value, dict) or not value:
            self.problem(pointer, "must be a map from names of earlier questions to what their answers must be")
            return ()
        conditions = []
        is_public = any(question.mechanism is None for question in item.questions)
        for name, wanted in value.items():
            asked = earlier.get(name) if isinstance(name, str) else None
            if asked is None or not asked.kind.single:
                self.problem(f"{pointer}/{name}", _no_such_question(str(name), earlier))
            elif is_public and asked.mechanism is not None:
                self.problem(pointer, "a public question that depends on a private one would give that answer away")
            else:
                conditions.append(self.condition(asked, wanted, f"{pointer}/{name}"))
        # In the order of the questions, so that two files that mean the same have one digest.
        order = list(earlier)
        conditions.sort(key=lambda condition: order.index(condition.question))
        return tuple(conditions)

    def condition(self, asked: Question, wanted: object, pointer: str) -> Condition:
        """Parse the condition on the answer to the earlier question ``asked``."""
        if asked.domain.grid is not None:
            return Condition(asked.name, span=self.span(asked.domain.grid, wanted, pointer))
        names = wanted if isinstance(wanted, list) else [wanted]
        options = asked.options[: asked.domain.size - asked.domain.absent]
        if not names or len(names) > len(options) or not all(isinstance(n, str) and n in options for n in names):
            message = Sentence("must be one or more of that question's options: {options}", options=_some(options))
            self.problem(pointer, message)
            return Condition(asked.name)
        return Condition(asked.name, tuple(sorted({options.index(name) for name in names})), mask=asked.kind.is_set)

    def span(self, grid: Grid, wanted: object, pointer: str) -> tuple[int, int]:
        """Return the first and last step of a range on the earlier question's grid."""
        fields = self.fields(wanted, pointer, set(), {"min", "max"})
        with self.noting(pointer):
            low = grid.index(fields["min"]) if "min" in fields else 0
            high = grid.index(fields["max"]) if "max" in fields else grid.steps
            if low > high:
                raise ValueError("min must not be more than max")
            return low, high
        return 0, 0


def _no_such_question(name: str, earlier: Mapping[str, Question]) -> str:
    # Only for who writes surveys: devices never need it.
    from difflib import SequenceMatcher

    known = [question.name for question in earlier.values() if question.kind.single and question.name]
    known.sort(key=lambda other: SequenceMatcher(None, name[:64], other).ratio(), reverse=True)
    if not known:
        return f"{_EARLIER}there is none before this one"
    return Sentence(_EARLIER + "nearest first: {known}", known=_some(known))


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


def dump_items(items: Sequence[Item]) -> list[dict[str, Any]]:
    """Return the canonical documents, defaults written out; ``ItemReader.shown`` reads them back."""
    # A condition is on an earlier question; a later one may by mistake have the same name.
    earlier: dict[str, Question] = {}
    documents: list[dict[str, Any]] = []
    for block, group in groupby(items, key=attrgetter("block")):
        members, dumped = [*group], []
        for item in members:
            document: dict[str, Any] = {"type": item.type, "name": item.name, "label": item.label}
            document |= {"hint": item.hint} if item.hint else {}
            document |= dump_question(item.questions[0]) if item.type in TYPES else {}
            if item.type == "matrix":
                document["rows"] = [{"name": row.name, "label": row.label} for row in item.rows]
                document["of"] = dump_asked(item.questions[0]) if item.questions else {}
            document |= {"arm": list(item.arms)} if item.arms else {}
            for key, conditions in (("visible_if", item.visible_if), ("any_of", item.any_of)):
                if conditions:
                    document[key] = {each.question: dump_condition(each, earlier[each.question]) for each in conditions}
            dumped.append(document)
            earlier |= {question.name: question for question in item.questions}
        if block:
            # The block's arms and mechanism are those of its items.
            inner = [{key: value for key, value in document.items() if key != "arm"} for document in dumped]
            member = members[0].questions[0].member
            ask = {"ask": member.block.ask} if member and member.block.ask else {}
            document = {"block": block, "mechanism": member.dump() if member else {}, "items": inner, **ask}
            dumped = [document | ({"arm": list(members[0].arms)} if members[0].arms else {})]
        documents += dumped
    return documents


def _in_block(item: Item, mechanism: JointRR, name: str, position: Iterator[int]) -> Item:
    """Return the item with its questions' parts of the block's mechanism."""
    members = {True: JointYesNo, False: JointMember}
    return replace(
        item,
        questions=tuple(
            replace(asked, mechanism=members[asked.is_yes_no](mechanism, next(position), name))
            for asked in item.questions
        ),
    )


def dump_condition(condition: Condition, asked: Question) -> Any:  # noqa: ANN401 - a list or a map
    """Return what a condition demands of an answer: names of options, or the ends of a range."""
    if condition.span is None:
        return [asked.options[option] for option in condition.options]
    low, high = (asked.answer(step) for step in condition.span)
    return {"min": low, "max": high}


def read_arms(reader: ItemReader, fields: Mapping[str, Any], items: Sequence[Item]) -> tuple[list[Arm], list[Item]]:
    """Read the survey's arms, none without ``arms``, and its items with theirs; the reader has the items' pointers."""
    if "arms" not in fields:
        if "arms_per_wave" in fields:
            reader.problem("/arms_per_wave", "goes with arms only")
        for pointer in dict.fromkeys(place for each in reader.pointers for place in (_whole(each), each)):
            if ARM in document_at(fields, pointer):
                reader.problem(f"{pointer}/{ARM}", "names an arm, and the survey has no arms")
        return [], list(items)
    arms = [
        _arm(reader, value, f"/arms/{index}")
        for index, value in enumerate(reader.items(fields["arms"], "/arms", 2, MOST_ARMS))
    ]
    names = [arm.name for arm in arms]
    for index in [index for index, name in enumerate(names) if name and name in names[:index]]:
        reader.problem(f"/arms/{index}/name", "is used twice")
    named = {
        place: _arms_of(reader, document_at(fields, place), names, place) for place in map(_whole, reader.pointers)
    }
    read = [replace(item, arms=named[_whole(pointer)]) for pointer, item in zip(reader.pointers, items, strict=True)]
    for pointer in reader.pointers:
        if pointer != _whole(pointer) and ARM in document_at(fields, pointer):
            reader.problem(f"{pointer}/{ARM}", "a block is asked as a whole: give the arm to the block")
    _check_together(reader, fields, read)
    _check_items(reader, read, names)
    return arms, read


def arm_question(arms: Sequence[Arm], language: str) -> Question:
    """Return the public choice that reports the arm; the arms' names stand for labels in the survey's language."""
    return Question(
        name=ARM,
        type="select_one",
        label={language: LABELS["en"], **LABELS},
        hint={},
        choices=tuple(Choice(arm.name, {language: arm.name}) for arm in arms),
        domain=Domain(tuple(arm.name for arm in arms)),
        mechanism=None,
        marks=frozenset({"in_files"}),
    )


def texts_by_arm(reader: Reader, value: object, arms: Sequence[Arm]) -> dict[str, Any]:
    """Parse ``after.by_arm``: a text for each of some arms, in the order of the arms."""
    known = [arm.name for arm in arms]
    given = value if isinstance(value, dict) else {}
    if not given or any(name not in known for name in given):
        reader.problem("/after/by_arm", "must be a map from names of the survey's arms to texts")
        return {}
    return {name: reader.text_map(given[name], f"/after/by_arm/{name}") for name in known if name in given}


def _arm(reader: ItemReader, value: object, pointer: str) -> Arm:
    fields = reader.fields(value, pointer, {"name"}, {"weight"})
    name = reader.match(fields.get("name", MISSING), f"{pointer}/name", NAME)
    return Arm(name, reader.integer(fields.get("weight", 1), f"{pointer}/weight", 1, MOST_WEIGHT))


def _whole(pointer: str) -> str:
    """Return the JSON pointer of the entry of the list of questions: for an item in a block, the block's."""
    return pointer.partition("/items/")[0]


def _arms_of(reader: ItemReader, document: Mapping[str, Any], names: Sequence[str], pointer: str) -> tuple[str, ...]:
    """Read the names of the arms of an item or a block, in the order of the survey's; none for all arms."""
    if ARM not in document:
        return ()
    wanted = document[ARM] if isinstance(document[ARM], list) else [document[ARM]]
    is_known = wanted and all(isinstance(each, str) and each in names for each in wanted)
    if not is_known or not len(set(wanted)) == len(wanted) < len(names):
        wrong = Sentence("must be some of the survey's arms, each once and not all: {names}", names=", ".join(names))
        reader.problem(f"{pointer}/{ARM}", wrong)
        return ()
    return tuple(name for name in names if name in wanted)


def _check_together(reader: ItemReader, fields: Mapping[str, Any], items: Sequence[Item]) -> None:
    """Refuse what does not go with arms."""
    if "arms_per_wave" in fields and "waves" not in fields:
        reader.problem("/arms_per_wave", "goes with waves only")
    privacy = fields.get("privacy")
    if isinstance(privacy, dict) and privacy.get("procedure") == "own_coin":
        reader.problem("/arms", "cannot be combined with own_coin: the device must draw nothing")
    for pointer, item in zip(reader.pointers, items, strict=True):
        _check_item(reader, item, pointer)


def _check_item(reader: ItemReader, item: Item, pointer: str) -> None:
    """Refuse what an item of a survey with arms cannot be."""
    if any(question.mechanism is not None and question.mechanism.waves > 1 for question in item.questions):
        reader.problem(f"{pointer}/mechanism", "cannot be combined with arms: only questions for all are remembered")
    if ARM in {item.name, *(question.name for question in item.questions)}:
        reader.problem(f"{pointer}/name", "is the name under which the arm itself is reported")
    if item.arms and any("cohort" in question.marks for question in item.questions):
        reader.problem(f"{pointer}/cohort", "must be asked in all arms: each report is counted in one cohort")
    if item.arms and any(question.known_share is not None for question in item.questions):
        reader.problem(f"{pointer}/{ARM}", "an anchor is asked of everybody")


def _check_items(reader: ItemReader, items: Sequence[Item], names: Sequence[str]) -> None:
    """Refuse an arm in which nothing is reported, and a condition that names a question of another arm."""
    for index, name in enumerate(names):
        if not any(item.questions and item.is_in(name) for item in items):
            reader.problem(f"/arms/{index}", "has no question")
    asked_in = {q.name: {name for name in names if item.is_in(name)} for item in items for q in item.questions}
    for pointer, item in zip(reader.pointers, items, strict=True):
        own = {name for name in names if item.is_in(name)}
        for condition in item.conditions:
            if not own <= asked_in[condition.question]:
                place = "visible_if" if condition in item.visible_if else "any_of"
                reader.problem(f"{pointer}/{place}/{condition.question}", "is not asked in every arm of this item")
