"""Draw how people pass through a survey: its random arms, blocks and conditions, as one SVG with the same as text.

The picture takes the colour of the text around it, for light and dark pages and print. The server cannot measure text,
so lines are wrapped by a generous letter width.
"""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from itertools import groupby

from sottovoce.aggregator.analysis.worked_example import absent_in_words
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.shared.spec import Item, Question, Survey
from sottovoce.shared.visibility import Condition

GAP, LINE, PADDING = 18, 17, 8
LETTER, WIDE_LETTER = 7.3, 13.5
"""Width of a letter in pixels, generously: of an alphabet, and of Chinese and similar scripts."""
MOST_LETTERS = 140
THICK = 2.5
"""Width of the line around what some people answer in clear."""
_FILLS = {"clear": ("#c2410c", ".16"), "randomized": ("#1d7f78", ".14"), "arm": ("currentColor", ".08")}


def flow_chart(survey: Survey, words: Words, language: str) -> str:
    """Return picture and text as HTML, with the survey's texts in ``language``; "" if all people pass all questions."""
    if not (survey.arms or survey.blocks or any(item.conditions for item in survey.items)):
        return ""
    teller = _Teller(survey, words, language)
    picture = "".join(_Picture(teller, narrow).svg() for narrow in (False, True))
    title = escape(words.translate("flow_title"))
    told = "".join(f"<p><strong>{escape(line)}</strong></p>" for line in teller.direct(teller.number_of))
    lists = "".join(
        (f"<p>{escape(head)}</p>" if head else "") + f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"
        for head, lines in teller.lists()
    )
    return (
        f'{told}<div class="scroll" tabindex="0" role="region" aria-label="{title}">{picture}</div>'
        f"<details><summary>{escape(words.translate('flow_as_text'))}</summary>{lists}</details>"
    )


def direct_sentences(survey: Survey, words: Words, language: str) -> list[str]:
    """Say of each arm which questions only its people answer in clear, by their texts; empty if there are none."""
    teller = _Teller(survey, words, language)
    return [*teller.direct(lambda item: f"“{survey.text(item.label, language)}”")]


def asked_how(survey: Survey, question: Question, words: Words, language: str) -> list[str]:
    """Return the statement beside a question that a fact of the person's own hides, who is asked if few, and as which
    answer no answer counts.
    """
    teller = _Teller(survey, words, language)
    items = [item for item in survey.items if question in item.questions]
    arms = [arm for item in items for arm in item.arms]
    only = [words.translate("flow_only", names=", ".join(arms), share=teller.share(*arms))] if arms else []
    after = [each for item in items for each in teller.after(item, lambda asked: survey.text(asked.label, language))]
    counted = absent_in_words(question, teller.labels(question), words)
    return [*teller.second(question), *only, *(f"{each}." for each in after), *([counted] if counted else [])]


@dataclass(frozen=True)
class _Teller:
    """Sentences about the parts of a survey."""

    survey: Survey
    words: Words
    language: str

    @property
    def arms(self) -> list[str]:
        """Names of the arms; one without a name if there are none."""
        return [arm.name for arm in self.survey.arms] or [""]

    def arm(self, name: str) -> str:
        """Say how many people come into an arm; "" without arms."""
        return self.words.translate("flow_arm", name=name, share=self.share(name)) if name else ""

    def share(self, *names: str) -> str:
        """Write the share of people who come into one of these arms."""
        weights = {arm.name: arm.weight for arm in self.survey.arms}
        return self.words.percent(Fraction(sum(map(weights.__getitem__, names)), sum(weights.values())), 0)

    def second(self, question: Question) -> list[str]:
        """Say which statement is read beside a question that a fact of the person's own hides; empty for others."""
        made = question.by_fact
        if made is None:
            return []
        faces = f"1–{6 * made.truth}" if made.truth > Fraction(1, 6) else "1"
        key = "flow_second" if made.is_crosswise else "flow_instead"
        return [self.words.translate(key, label=self.survey.text(made.label, self.language), faces=faces)]

    def begin(self) -> str:
        """Say who begins, and how many of the questions each person gets if not all."""
        begin, ask = self.words.translate("flow_begin"), self.survey.ask
        private = max(map(len, self.survey.units_by_arm))
        drawn = "" if ask is None else self.words.translate("design_some_of", some=ask, all=private)
        each, begun = self.words.translate("design_each_gets"), self.words.translate("note_as_sentence", note=begin)
        return begin if not drawn else f"{begun}{self.words.translate('gap')}{each} {drawn}"

    def number_of(self, item: Item) -> str:
        """Return the number of a question."""
        return str(self._number(item.questions[0].name))

    def _number(self, name: str) -> int:
        asked = [item for item in self.survey.items if item.questions]
        return next(place for place, item in enumerate(asked, 1) if name in {each.name for each in item.questions})

    def kind(self, item: Item) -> str:
        """Return how an item is drawn: ``clear``, ``randomized``, or "" for notes and questions that all may see."""
        if not item.questions:
            return ""
        return "randomized" if item.questions[0].mechanism is not None else "clear" if item.arms else ""

    def texts(self, item: Item) -> list[str]:
        """Return number and text of an item, shortened, how the answer is sent, and after which answers it is shown."""
        found = [textwrap.shorten(self.survey.text(item.label, self.language), MOST_LETTERS, placeholder=" …")]
        if item.questions:
            asked = item.questions[0]
            way = "fact" if asked.by_fact else "clear" if asked.mechanism is None else "randomized"
            found = [f"{self.number_of(item)}. {found[0]}", self.words.translate(f"flow_{way}")]
            found += self.second(asked)
        return [*found, *self.after(item, self._numbered)]

    def after(self, item: Item, name: Callable[[Question], str]) -> list[str]:
        """Say after which answers an item is shown; ``name`` names a question."""
        every = ("flow_after", item.visible_if), ("flow_after_one", item.any_of)
        return [
            self.words.translate(key, conditions="; ".join(self._condition(each, name) for each in conditions))
            for key, conditions in every
            if conditions
        ]

    def _numbered(self, question: Question) -> str:
        rows = [(f"{item.name}_{row.name}", row.label) for item in self.survey.items for row in item.rows]
        named = [self.survey.text(label, self.language) for name, label in rows if name == question.name]
        return ", ".join([str(self._number(question.name)), *named])

    def labels(self, question: Question) -> dict[str, str]:
        """Return the texts of a question's options, and of yes and no."""
        own = {choice.name: self.survey.text(choice.label, self.language) for choice in question.choices}
        return {name: self.words.translate(f"answer_{name}") for name in ("yes", "no")} | own

    def _condition(self, condition: Condition, name: Callable[[Question], str]) -> str:
        question = next(each for each in self.survey.questions if each.name == condition.question)
        if condition.span is not None:
            ends = [str(question.answer(step)) for step in condition.span]
            return f"{name(question)}: {'–'.join(dict.fromkeys(ends))}"
        labels = self.labels(question)
        answers = " / ".join(labels[question.options[option]] for option in condition.options)
        return f"{name(question)}: {answers}"

    def direct(self, named: Callable[[Item], str]) -> Iterator[str]:
        """Yield a sentence for each arm whose people alone answer some questions in clear; ``named`` names these."""
        for name in self.arms:
            asked = [item for item in self.survey.items if name in item.arms and self.kind(item) == "clear"]
            if asked:
                questions = ", ".join(map(named, asked))
                yield self.words.translate("flow_direct", share=self.share(name), name=name, questions=questions)

    def lists(self) -> Iterator[tuple[str, list[str]]]:
        """Yield each arm's sentence and the parts that its people pass, in order."""
        together = self.words.translate("privacy_block")
        for name in self.arms:
            passed = [item for item in self.survey.items if not name or item.is_in(name)]
            lines = [". ".join([*self.texts(item), *([together] if item.block else [])]) for item in passed]
            yield self.arm(name), [self.begin(), *lines, self.words.translate("flow_end")]


@dataclass
class _Picture:
    """Picture under construction: one column for each arm, each filled from top to bottom; ``narrow`` is for phones."""

    teller: _Teller
    narrow: bool
    parts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        columns = len(self.teller.arms)
        self.step = max(344 // columns, 150) if self.narrow else 520 if columns == 1 else 290 if columns == 2 else 210
        self.width = self.step * columns
        self.ends = [0] * columns

    def svg(self) -> str:
        """Return the whole picture as one element."""
        teller, every = self.teller, range(len(self.ends))
        self.box([teller.begin()], "arm", every)
        if teller.survey.arms:
            for column, name in enumerate(teller.arms):
                self.box([teller.arm(name)], "arm", [column])
        for _, items in groupby(teller.survey.items, key=lambda item: item.block or item):
            self._part(list(items))
        self.box([teller.words.translate("flow_end")], "arm", every)
        size, title = (self.width, self.ends[0] + 2), escape(teller.words.translate("flow_title"))
        return (
            f'<svg class="flow{" narrow" * self.narrow}" xmlns="http://www.w3.org/2000/svg" width="{size[0]}" '
            f'height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}" direction="{teller.words.direction}" role="img" '
            f'aria-label="{title}" font-family="system-ui, sans-serif" font-size="13" fill="currentColor">'
            f"{''.join(self.parts)}</svg>"
        )

    def _part(self, items: Sequence[Item]) -> None:
        """Add an item, or the items of a block in a frame: for all columns as one, or for each of its arms."""
        arms, block = self.teller.arms, items[0].block
        for columns in [[arms.index(name)] for name in items[0].arms] or [[*range(len(arms))]]:
            if block:
                self.box([self.teller.words.translate("privacy_block")], "block", columns)
            top = self.ends[columns[0]] - LINE - 2 * PADDING
            for item in items:
                self.box(self.teller.texts(item), self.teller.kind(item), columns, 12 if block else 0)
            if block:
                end = self.ends[columns[0]] + PADDING
                self._end(columns, end)
                self._rectangle(columns, top, end, 'fill="none" stroke-dasharray="5 4"')

    def _end(self, columns: Sequence[int], end: int) -> None:
        for column in columns:
            self.ends[column] = end

    def _left(self, columns: Sequence[int]) -> int:
        """Return the left edge of columns, which stand from right to left where people read so."""
        first = len(self.ends) - 1 - columns[-1] if self.teller.words.direction == "rtl" else columns[0]
        return first * self.step

    def _rectangle(self, columns: Sequence[int], top: int, end: int, style: str, inset: int = 0) -> None:
        left, width = self._left(columns) + 6 + inset, self.step * len(columns) - 12 - 2 * inset
        self.parts.append(
            f'<rect x="{left}" y="{top}" width="{width}" height="{end - top}" rx="6" stroke="currentColor" {style}/>'
        )

    def box(self, texts: Sequence[str], kind: str, columns: Sequence[int], inset: int = 0) -> None:
        """Add a box with texts below what its columns have, and an arrow to it from each of them."""
        width = self.step * len(columns) - 12 - 2 * inset
        lines = [(line, place > 0) for place, text in enumerate(texts) for line in _wrapped(text, width - 20)]
        above = max(self.ends[column] for column in columns)
        top = above + GAP if above else 1
        for column in columns if above else ():
            arrow = f"M{self._left([column]) + self.step // 2} {self.ends[column]}V{top - 1}m-4 -6l4 6l4 -6"
            self.parts.append(f'<path d="{arrow}" stroke="currentColor" fill="none"/>')
        end = top + len(lines) * LINE + 2 * PADDING
        if kind != "block":
            color, opacity = _FILLS.get(kind, ("none", "1"))
            thick = f' stroke-width="{THICK}"' if kind == "clear" else ""
            self._rectangle(columns, top, end, f'fill="{color}" fill-opacity="{opacity}"{thick}', inset)
        middle = self._left(columns) + self.step * len(columns) // 2
        for place, (line, is_detail) in enumerate(lines, 1):
            at = f'x="{middle}" y="{top + PADDING + place * LINE - 4}"'
            style = ' font-size="12" font-style="italic"' if is_detail else ""
            self.parts.append(f'<text {at} text-anchor="middle"{style}>{escape(line)}</text>')
        self._end(columns, end)


def _wrapped(text: str, width: int) -> list[str]:
    """Wrap a text into lines that fit into a width in pixels."""
    letter = WIDE_LETTER if any(character >= "\u2e80" for character in text) else LETTER
    return textwrap.wrap(text, int(width / letter)) or [""]
