"""Read and write channels as text, such as ``kary_rr odds=3 levels=never,once,often``: name, parameters, true values.

A column of reports needs no other file: the text names the mechanism, its parameters as in a survey file (lists with
commas, rows of a table with semicolons), and the true values: ``levels=`` in their order (yes and no need none), ``min=
max= step=`` of a number, ``most=`` of a choice of several. Columns that were randomized together have one text:
``joint_rr odds=9 radius=0 k=2,2 with=a,b``, ``with=`` the names of these columns in their order.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sottovoce.shared.answers import Domain, Grid
from sottovoce.shared.errors import Sentence
from sottovoce.shared.mechanisms import MECHANISMS, Mechanism
from sottovoce.shared.mechanisms.joint_rr import JointRR
from sottovoce.shared.rational import dump_decimal
from sottovoce.shared.spec import Question
from sottovoce.shared.types.base import BOOLEAN_OPTIONS, DayGrid

MOST_LETTERS = 4000
"""Longest text of a channel."""

NO_NUMBER = "{name} must be a number such as 1/6 or 0.25"

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TYPES = {"yes_no": "boolean", "option": "select_one", "options": "select_multiple", "numbers": "vector"}


@dataclass
class ChannelWords:
    """The words of a channel: its name, parameters with a name, and the rest in their order."""

    name: str
    named: dict[str, str] = field(default_factory=dict)
    rest: list[str] = field(default_factory=list)

    def numbers(self, *names: str) -> dict[str, Fraction]:
        """Return the parameters of these names, given by name or in this order, and refuse all others."""
        unknown = sorted(set(self.named) - set(names))
        free = [name for name in names if name not in self.named]
        if unknown or len(self.rest) != len(free):
            raise ValueError(Sentence("this channel has the parameters: {names}", names=", ".join(names) or "none"))
        given = {**self.named, **dict(zip(free, self.rest, strict=True))}
        return {name: read_number(text, name) for name, text in given.items()}

    def pop_levels(self) -> tuple[str, ...]:
        """Remove and return the names of the true options."""
        names = tuple(filter(None, self.named.pop("levels", "").split(",")))
        if len(set(names)) < len(names):
            raise ValueError("two levels have one name")
        return names


def split_channel(text: str) -> ChannelWords:
    """Return the words of a channel; raise ValueError if the text is too long, or a parameter is given twice."""
    if len(text) > MOST_LETTERS:
        raise ValueError("a channel has at most 4,000 letters; write a matrix into a YAML file")
    name, *parts = text.split() or [""]
    words = ChannelWords(name)
    for part in parts:
        key, equals, value = part.partition("=")
        if equals and key in words.named:
            raise ValueError(Sentence("the parameter {name} is given twice", name=key))
        if equals:
            words.named[key] = value
        else:
            words.rest.append(part)
    return words


def read_number(text: str, name: str) -> Fraction:
    """Return the number in a fraction or decimal of at most 20 digits; a ValueError names it and repeats nothing."""
    try:
        if len(text) > 50 or "e" in text.lower():
            raise ValueError
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError(Sentence(NO_NUMBER, name=name)) from None


def channel_question(words: ChannelWords, levels: tuple[str, ...] = ()) -> Question:
    """Return the question, without texts, that a mechanism's words describe.

    ``levels`` name the options or coordinates. Raises ValueError if a parameter is missing, unknown or impossible.
    """
    made = MECHANISMS[words.name]
    if words.rest:
        raise ValueError("write each parameter of this channel with its name")
    domain = _read_domain(made, words.named, levels)
    fields = {key: _read_value(key, text, made) for key, text in words.named.items()}
    kind = "date" if isinstance(domain.grid, DayGrid) else _TYPES.get(made.serves, "decimal")
    return Question("answer", kind, {}, {}, (), domain, made.parse({"name": words.name, **fields}, domain))


def dump_channel(question: Question) -> str:
    """Return the text of a channel, read back by ``channel_question``; ValueError if public, or a table too long."""
    if question.mechanism is None:
        raise ValueError("a public question has no channel")
    domain = question.domain
    fields = question.mechanism.dump()
    words = [fields["name"], *(f"{key}={_dump(value)}" for key, value in sorted(fields.items()) if key != "name")]
    if domain.grid is not None:
        grid = domain.grid
        words += [f"min={grid.text(0)}", f"max={grid.text(grid.steps)}", f"step={dump_decimal(grid.step)}"]
    if question.mechanism.serves == "options":
        words.append(f"most={domain.max_choices}")
    if question.mechanism.serves != "yes_no" and domain.options:
        words.append(f"levels={_dump(list(domain.options))}")
    text = " ".join(words)
    if len(text) > MOST_LETTERS:
        raise ValueError("the channel takes more than 4,000 letters in a column; name a mechanism without a table")
    return text


def dump_block(mechanism: JointRR, names: Sequence[str]) -> str:
    """Return the text of the channel of a block of questions, the same for each of its columns."""
    fields = mechanism.dump()
    sizes = ",".join(map(str, mechanism.sizes))
    ask = f" ask={mechanism.ask}" if mechanism.ask else ""
    return f"{fields['name']} odds={fields['odds']} radius={fields['radius']} k={sizes}{ask} with={','.join(names)}"


def read_block(words: ChannelWords) -> tuple[JointRR, tuple[str, ...]]:
    """Return a block's mechanism and its columns' names, from ``odds= radius= k= with=``, and ``ask=`` if some are
    drawn.

    Raises ValueError if a parameter is missing, unknown or impossible.
    """
    if words.rest or set(words.named) - {"ask"} != {"odds", "radius", "k", "with"}:
        raise ValueError("a channel of a block has the parameters odds=9 radius=0 k=2,2 with=a,b")
    names = tuple(words.named["with"].split(","))
    sizes = tuple(_read_whole(size, "k") for size in words.named["k"].split(","))
    if len(set(names)) != len(sizes):
        raise ValueError("k and with must name as many different columns")
    ask = _read_whole(words.named["ask"], "ask") if "ask" in words.named else None
    odds, radius = read_number(words.named["odds"], "odds"), _read_whole(words.named["radius"], "radius")
    return JointRR(odds, radius, sizes, ask), names


def _read_domain(made: type[Mechanism], named: dict[str, str], levels: tuple[str, ...]) -> Domain:
    """Return the true values, and remove what names them from ``named``."""
    if made.serves == "yes_no":
        return Domain(levels or BOOLEAN_OPTIONS)
    if made.serves in {"number", "numbers"}:
        if bool(levels) != (made.serves == "numbers") or not {"min", "max"} <= set(named):
            raise ValueError("a channel of a number names its range and parameters: min=0 max=60 step=1 and so on")
        return Domain(levels, _read_grid(named))
    if len(levels) < 2:
        raise ValueError("name the options: levels=never,once,often")
    most = named.pop("most", str(len(levels))) if made.serves == "options" else "1"
    return Domain(levels, max_choices=_read_whole(most, "most"))


def _read_grid(named: dict[str, str]) -> Grid:
    low, high, step = (named.pop(key, "1") for key in ("min", "max", "step"))
    if _DAY.fullmatch(low):
        return DayGrid(DayGrid.read(low), DayGrid.read(high), read_number(step, "step"))
    return Grid(read_number(low, "min"), read_number(high, "max"), read_number(step, "step"))


def _read_value(key: str, text: str, made: type[Mechanism]) -> Any:  # noqa: ANN401 - text, a number or lists of them
    schema: Mapping[str, Any] = made.parameters[key].schema if key in made.parameters else {}
    if schema.get("type") == "integer":
        return _read_whole(text, key)
    if schema.get("type") == "array":
        rows = [[_read_whole(cell, key) for cell in row.split(",")] for row in text.split(";")]
        return rows if schema["items"].get("type") == "array" else rows[0]
    return str(read_number(text, key))


def _read_whole(text: str, name: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,16}", text):
        raise ValueError(Sentence(NO_NUMBER, name=name))
    return int(text)


def _dump(value: object) -> str:
    """Return text, a number or a list as it stands after the equals sign."""
    if not isinstance(value, list):
        return str(value)
    return (";" if value and isinstance(value[0], list) else ",").join(map(_dump, value))
