"""Convert the column ``relevant`` of an XLSForm to ``visible_if`` and ``any_of``, as far as they can express it.

Understood: ``${q} = 'x'``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``selected(${q}, 'x')``, ``and``, ``or``,
``not(...)``, brackets. A recursive-descent parser builds a tree of conjunctions, disjunctions and single conditions,
with every negation pushed down to the single conditions (negation normal form).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil, floor
from typing import Any

_TOKEN = re.compile(r"\s*(?:\$\{([^}]*)\}|'([^']*)'|\"([^\"]*)\"|(-?\d+(?:\.\d+)?)|(!=|<=|>=|[=<>(),])|(\w+))")
_OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_TURNED = {"=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_LONG_NUMBER = re.compile(r"-?0\d|.*\.(\d*0)?$")
_DEEPEST = 50


class UnsupportedConditionError(ValueError):
    """A condition that a survey file cannot express; the message names the reason and repeats no part of the text."""


@dataclass(frozen=True)
class ReferencedQuestion:
    """Earlier question that conditions may refer to.

    Attributes:
        options: option names in the survey by their names in the form; empty for a number.
        several: several options may be chosen.
        step: step of a number, else None; ``low`` is its least value.
        absent: it may have no answer.
    """

    name: str
    options: Mapping[str, str]
    several: bool = False
    step: Decimal | None = None
    low: Decimal = Decimal(0)
    absent: bool = False


@dataclass(frozen=True)
class _One:
    """Condition on one question: a set of accepted options, or bounds of a range, None for an open bound.

    ``at_blank`` says whether it holds in the form where the question has no answer; here no condition does.
    """

    asked: ReferencedQuestion
    options: frozenset[str] = frozenset()
    least: Decimal | None = None
    most: Decimal | None = None
    at_blank: bool = False


@dataclass(frozen=True)
class _Many:
    """Conjunction (``every``) or disjunction of conditions."""

    every: bool
    parts: Sequence["_One | _Many"]


Earlier = Mapping[str, ReferencedQuestion | None]
"""Questions by their names in the form; None for a name that several have."""


def conditions(relevant: Sequence[str], earlier: Earlier) -> dict[str, Any]:
    """Return ``visible_if`` and ``any_of`` of an item as in a survey file; empty without a condition.

    Args:
        relevant: the item's own condition and those of the groups around it; all must hold.
        earlier: the questions before it, by their names in the form.

    Raises:
        UnsupportedConditionError: a survey file cannot express the condition.
    """
    parts = _flat(_Many(every=True, parts=[_Parser(text, earlier).whole() for text in relevant]), every=True)
    groups = [part for part in parts if isinstance(part, _Many)]
    if len(groups) > 1:
        raise UnsupportedConditionError("more than one 'or' under an 'and'")
    written = {"visible_if": _conditions_by_question([part for part in parts if isinstance(part, _One)], every=True)}
    if groups:
        alternatives = [part for part in _flat(groups[0], every=False) if isinstance(part, _One)]
        if len(alternatives) < len(_flat(groups[0], every=False)):
            raise UnsupportedConditionError("an 'and' under an 'or'")
        any_of = _conditions_by_question(alternatives, every=False)
        # A disjunction on one question is a single condition with several accepted options.
        key = "any_of" if len(any_of) > 1 else "visible_if"
        if written.setdefault(key, {}).keys() & any_of.keys():
            raise UnsupportedConditionError("an 'and' and an 'or' about one question")
        written[key] |= any_of
    return {key: condition for key, condition in written.items() if condition}


def shown_where_blank(relevant: Sequence[str], earlier: Earlier) -> list[str]:
    """Return the questions that may have no answer where a condition on them then holds, but only in the form.

    Raises UnsupportedConditionError as ``conditions``.
    """
    found, trees = dict[str, None](), [_Parser(text, earlier).whole() for text in relevant]
    while trees:
        tree = trees.pop()
        if isinstance(tree, _Many):
            trees += tree.parts
        elif tree.at_blank and tree.asked.absent:
            found[tree.asked.name] = None
    return sorted(found)


def _flat(tree: "_One | _Many", every: bool) -> list["_One | _Many"]:
    """Flatten a tree: replace inner trees of the same kind, or with one part, by their parts."""
    if isinstance(tree, _One) or (tree.every != every and len(tree.parts) > 1):
        return [tree]
    return [part for inner in tree.parts for part in _flat(inner, every)]


def _conditions_by_question(parts: Sequence[_One], every: bool) -> dict[str, Any]:
    found: dict[str, _One] = {}
    for part in parts:
        name = part.asked.name
        found[name] = _merge(found[name], part, every) if name in found else part
    return {name: _condition_value(part) for name, part in found.items()}


def _merge(first: _One, second: _One, every: bool) -> _One:
    if first.asked.step is not None:
        if not every:
            raise UnsupportedConditionError("an 'or' about one number")
        least = [end for end in (first.least, second.least) if end is not None]
        most = [end for end in (first.most, second.most) if end is not None]
        return _One(first.asked, least=max(least, default=None), most=min(most, default=None))
    if every and first.asked.several:
        raise UnsupportedConditionError("two options of which both must be chosen")
    return _One(first.asked, first.options & second.options if every else first.options | second.options)


def _condition_value(part: _One) -> Any:  # noqa: ANN401 - a list or a map
    if part.asked.step is not None:
        ends = {"min": part.least, "max": part.most}
        return {key: _format_bound(end, part.asked.step) for key, end in ends.items() if end is not None}
    if not part.options:
        raise UnsupportedConditionError("no answer meets it")
    return [name for name in part.asked.options.values() if name in part.options]


def _format_bound(end: Decimal, step: Decimal) -> str:
    return str(int(end)) if end == int(end) and step == int(step) else str(end)


class _Parser:
    """Recursive-descent parser of one expression; ``negated`` pushes negations down to the single conditions."""

    def __init__(self, text: str, earlier: Earlier) -> None:
        self._tokens = _tokens(text)
        self._earlier = earlier
        self._at = self._depth = 0

    def whole(self) -> _One | _Many:
        read = self._chain("or", negated=False)
        if self._at < len(self._tokens):
            raise UnsupportedConditionError("a function, or a sign that is not understood")
        return read

    def _chain(self, word: str, negated: bool) -> _One | _Many:
        parts = list[_One | _Many]()
        while not parts or self._take("word", word):
            parts.append(self._chain("and", negated) if word == "or" else self._single(negated))
        return parts[0] if len(parts) == 1 else _Many((word == "and") != negated, parts)

    def _single(self, negated: bool) -> _One | _Many:
        if self._take("word", "not"):
            self._need("(")
            return self._inner(not negated)
        if self._take("sign", "("):
            return self._inner(negated)
        if self._take("word", "selected"):
            return self._selected(negated)
        return self._comparison(negated)

    def _inner(self, negated: bool) -> _One | _Many:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UnsupportedConditionError("brackets that are nested too deep")
        read = self._chain("or", negated)
        self._need(")")
        self._depth -= 1
        return read

    def _selected(self, negated: bool) -> _One:
        self._need("(")
        asked = self._question(self._next("name"))
        self._need(",")
        option = self._next("text")
        self._need(")")
        return _option_condition(asked, option, negated, at_blank=negated)

    def _comparison(self, negated: bool) -> _One:
        kind, first = self._any_token()
        sign = self._next("sign")
        other_kind, second = self._any_token()
        if sign not in _OPPOSITE or (kind == "name") == (other_kind == "name"):
            raise UnsupportedConditionError("something else than a question compared with a value")
        if other_kind == "name":
            first, second, sign = second, first, _TURNED[sign]
        asked = self._question(first)
        at_blank = (sign == "!=") != negated
        sign = _OPPOSITE[sign] if negated else sign
        # Texts are compared letter by letter: no number is written '3.0'.
        if asked.step is not None and not ("text" in {kind, other_kind} and sign == "=" and _LONG_NUMBER.match(second)):
            return _range(asked, sign, second, at_blank)
        if asked.several or sign not in {"=", "!="}:
            raise UnsupportedConditionError("options compared other than with = or selected()")
        return _option_condition(asked, second, sign == "!=", at_blank)

    def _question(self, name: str) -> ReferencedQuestion:
        asked = self._earlier.get(name)
        if asked is None:
            raise UnsupportedConditionError("a question that was not imported, or comes later")
        return asked

    def _any_token(self) -> tuple[str, str]:
        if self._at == len(self._tokens):
            raise UnsupportedConditionError("an end before it is whole")
        self._at += 1
        return self._tokens[self._at - 1]

    def _next(self, kind: str) -> str:
        found, text = self._any_token()
        if found != kind and not (kind == "text" and found == "number"):
            raise UnsupportedConditionError("a function, or a sign that is not understood")
        return text

    def _take(self, kind: str, text: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at] == (kind, text):
            self._at += 1
            return True
        return False

    def _need(self, sign: str) -> None:
        if not self._take("sign", sign):
            raise UnsupportedConditionError("a function, or a bracket that is not closed")


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens, at, text = [], 0, text.strip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if not found:
            raise UnsupportedConditionError("a function, or a sign that is not understood")
        at = found.end()
        name, single, double, number, sign, word = found.groups()
        quoted = single if single is not None else double
        kinds = (("name", name), ("text", quoted), ("number", number), ("sign", sign), ("word", word))
        tokens += [(kind, value.strip() if kind == "name" else value) for kind, value in kinds if value is not None]
    return tokens


def _option_condition(asked: ReferencedQuestion, option: str, negated: bool, at_blank: bool) -> _One:
    if option not in asked.options:
        raise UnsupportedConditionError("an option that its question does not have")
    if negated and asked.several:
        raise UnsupportedConditionError("an option that must not be chosen, where several may be")
    options = {asked.options[option]}
    return _One(asked, frozenset(set(asked.options.values()) - options if negated else options), at_blank=at_blank)


def _range(asked: ReferencedQuestion, sign: str, text: str, at_blank: bool) -> _One:
    if not re.fullmatch(r"-?\d{1,15}(\.\d{1,6})?", text) or sign == "!=":
        raise UnsupportedConditionError("a number compared with something else, or with !=")
    step = asked.step or Decimal(1)
    steps = (Decimal(text) - asked.low) / step
    if sign == "=" and steps != int(steps):
        raise UnsupportedConditionError("no answer meets it")
    least = {"=": ceil(steps), ">=": ceil(steps), ">": floor(steps) + 1}.get(sign)
    most = {"=": floor(steps), "<=": floor(steps), "<": ceil(steps) - 1}.get(sign)
    low, high = (None if end is None else asked.low + end * step for end in (least, most))
    return _One(asked, least=low, most=high, at_blank=at_blank)
