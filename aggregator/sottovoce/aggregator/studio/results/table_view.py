"""Format crosstabs, comparisons and associations of all pairs for the page.

A result becomes tables, bars with intervals, and sentences. All numbers come from the result document.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.aggregator.analysis.documents import MEASURES
from sottovoce.aggregator.analysis.tables.arm_comparison import ACROSS
from sottovoce.aggregator.analysis.tables.group_comparison import main_answer
from sottovoce.aggregator.estimators.scale_variable import bare
from sottovoce.aggregator.i18n.formatting import NumberFormat
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.shared.arms.arms import ARM

_WORD = re.compile(r"[A-Za-z0-9_.]+")

_VARIABLES = frozenset({"variable", "other", "variables"})
_TERMS = frozenset({"term", "terms"})
_SENTENCES = frozenset({"note", "reason", "limits"})
"""Names of the placeholders of a ``Sentence``, by what they hold: a variable, a term, or another sentence."""


class VariableNames:
    """Names of variables, terms and categories as a result has them, for readers of a result without its survey."""

    words: Words

    def __init__(self, words: Words) -> None:
        self.words = words

    def label(self, name: str) -> str:
        """Return the label of a variable."""
        return name

    def text(self, name: str) -> str:
        """Return the text of a variable."""
        return self.label(name)

    def category(self, name: str, category: str) -> str:  # noqa: ARG002 - labels need the variable
        """Return the label of a variable's category."""
        return category

    def term(self, term: str) -> str:
        """Return the label of a model term."""
        return term

    def answers(self, name: str) -> list[str]:  # noqa: ARG002
        """Return the names of a variable's categories, without no answer; empty if they are unknown."""
        return []

    def is_variable(self, name: str) -> bool:
        """Return True if this is a variable's name, and no expression of some."""
        return _WORD.fullmatch(bare(name)) is not None

    def variables_in(self, term: str) -> set[str]:
        """Return the names of the variables in a model term, also those within its expressions."""
        factors = (factor.partition("=")[0] for factor in term.split(":"))
        return {name for factor in factors for name in _WORD.findall(factor) if self.is_variable(name)}

    def note(self, english: str, **of: str) -> str:
        """Translate a note of an analysis, with the survey's labels instead of names, as a whole sentence.

        ``of`` names the variable that the placeholders ``row``, ``column`` and ``group`` hold a category of.
        """
        text = self.translate_note(english, **of)
        return self.words.translate("note_as_sentence", note=text[:1].upper() + text[1:])

    def translate_note(self, english: str, **of: str) -> str:
        """Translate a note as a part of a sentence, with the survey's labels; see ``note``."""
        own = str(getattr(english, "values", {}).get("variable", ""))

        def value(place: str, given: object) -> object:
            if isinstance(given, tuple):
                return ", ".join(str(value(place, each)) for each in given)
            if isinstance(given, str):
                return self._in_place(place, given, {**of, "category": own, "categories": own})
            return given

        return self.words.in_this_language(english, value)

    def _in_place(self, place: str, given: str, of: Mapping[str, str]) -> str:
        if place in _VARIABLES:
            return self.label(given)
        if place in _TERMS:
            return self.term(given)
        if place in _SENTENCES:
            return self.translate_note(
                given, **{key: name for key, name in of.items() if key not in ("category", "categories")}
            )
        return self.category(of.get(place, ""), given)


@dataclass(frozen=True)
class EstimateBar:
    """Estimate with its interval, as text and by position in a box 100 units wide.

    Attributes:
        place: position of the estimate; "" if there is none.
        low, high: ends of the interval.
        zero: position of 0.
    """

    name: str
    value: str
    limits: str
    place: str
    low: str
    high: str
    zero: str


@dataclass(frozen=True)
class DotPlot:
    """Shares in two arms side by side: names of the arms, and for each question its text, two marks, and a difference.

    The difference is an estimate with its limits, both as text.
    """

    arms: Sequence[str]
    rows: Sequence[tuple[str, Sequence[EstimateBar], tuple[str, str]]]


@dataclass(frozen=True)
class ShownTable:
    """Table with its chart and notes.

    Attributes:
        lines: rows of cells; the first cell is the row's heading.
        bars: bars of the chart; empty if a chart would add nothing.
        sentences: sentences below the table.
        dots: dot plot in the place of bars, or None.
        ticks: five texts below the axis; empty if it has none.
        folded: True if the page shows the table folded, since few readers need it.
    """

    title: str
    headings: Sequence[str] = ()
    lines: Sequence[Sequence[str]] = ()
    bars: Sequence[EstimateBar] = ()
    sentences: Sequence[str] = ()
    folded: bool = False
    dots: DotPlot | None = None
    ticks: Sequence[str] = ()


@dataclass(frozen=True)
class ShownAnswer:
    """Result formatted for the page: text for a paper ("" if there is none), tables in order, and warnings."""

    paper: str
    tables: Sequence[ShownTable]
    notes: Sequence[str]


@dataclass(frozen=True)
class ToDraw:
    """Estimate before layout: label, texts and numbers."""

    name: str
    value: str
    limits: str
    figure: float | None
    low: float | None
    high: float | None


def bars(drawn: Sequence[ToDraw], least: float | None = None, most: float | None = None) -> list[EstimateBar]:
    """Lay out estimates on a common scale; an end that is None fits 0, the estimates and their intervals."""
    known = [end for each in drawn for end in (each.low, each.high, each.figure) if end is not None]
    start = min([0.0, *known]) if least is None else least
    end = max([0.0, *known]) if most is None else most
    if not known or not math.isfinite(end - start) or start == end:
        return []
    return [_bar(each, start, end) for each in drawn if each.figure is not None or each.low is not None]


def _bar(each: ToDraw, start: float, end: float) -> EstimateBar:
    zero, low, high = (_place(value, start, end) for value in (0.0, each.low, each.high))
    low, high = 0.0 if each.low is None else low, 100.0 if each.high is None else high
    place = "" if each.figure is None else f"{_place(each.figure, start, end):.2f}"
    return EstimateBar(each.name, each.value, each.limits, place, f"{low:.2f}", f"{high:.2f}", f"{zero:.2f}")


def _place(value: float | None, start: float, end: float) -> float:
    return min(max(100 * ((value or 0.0) - start) / (end - start), 0.0), 100.0)


def _is_empty(one: Mapping[str, Any]) -> bool:
    """Return True if a share has no estimate, or none above 0."""
    return one["shown"] is None or one["shown"] <= 0


USUAL_LEVEL = 0.95


def level_of(words: Words, document: Mapping[str, Any]) -> str:
    """Return the level of a document's intervals as a percentage."""
    return words.percent(document.get("confidence", USUAL_LEVEL), 0)


def interval_heading(words: Words, document: Mapping[str, Any]) -> str:
    """Return the heading of a document's intervals."""
    return words.translate("results_interval_head", confidence=level_of(words, document))


def with_people(words: Words, document: Mapping[str, Any], paper: str) -> str:
    """Add to a text for a paper ("" for none) whom its figures describe, where they are not all."""
    if not paper or "people" not in document:
        return paper
    people = words.translate(f"joint_paper_{document['people']}")
    return f"{paper} {people}"


def joined(parts: Iterable[str]) -> str:
    """Join the non-empty names by commas."""
    return ", ".join(filter(None, parts))


Document = Mapping[str, Any]


@dataclass(frozen=True)
class AnswersInWords:
    """Formatter of answers, with labels of the survey's variables."""

    names: VariableNames

    @property
    def words(self) -> Words:
        """Translator for the reader's language."""
        return self.names.words

    @property
    def write(self) -> NumberFormat:
        """Number format in the page's language."""
        return NumberFormat(self.words)


@dataclass(frozen=True)
class TablesInWords(AnswersInWords):
    """Formatter of crosstabs, comparisons and pairs of questions."""

    def crosstab(self, document: Document) -> ShownAnswer:
        """Format a crosstab of two questions, stratified by a third one if given."""
        if "within" not in document:
            paper = with_people(self.words, document, self._paper(document, level_of(self.words, document)))
            return ShownAnswer(paper, list(self._tables(document, "")), self.notes(document))
        within, found = document["within"], document["tables"]
        shown: list[ShownTable] = []
        for table in found:
            where = self.names.term(f"{within}={table['category']}")
            shown += self._tables(table, where)
        test = self._test("joint_test_within", document["independence"], within=self.names.label(within))
        shown += [ShownTable(self.words.translate("joint_together"), sentences=test)] if test else []
        notes = [note for table in (*found, document) for note in self.notes(table)]
        return ShownAnswer("", shown, list(dict.fromkeys(notes)))

    def compare(self, document: Document) -> ShownAnswer:
        """Format a comparison of a share or a mean between groups."""
        is_share = document["category"] is not None
        show = self.write.percent if is_share else self.write.figure
        apart = self.write.points if is_share else self.write.figure
        what = self._what(document)
        drawn = [self.to_draw(self._group(document, one["group"]), one, show) for one in document["values"]]
        lines = [(each.name, each.value, each.limits) for each in drawn]
        ends = (0.0, 1.0) if is_share else (None, None)
        headings = (self.names.label(document["groups"]), what, interval_heading(self.words, document))
        grid = self._with_declined(document, headings, lines)
        dots = next((table.dots for table in self.by_arm([document])), None)
        below, ticks = self._below_comparison(document), self._percents if is_share else ()
        shown = [ShownTable(what, *grid, bars(drawn, *ends), below, dots=dots, ticks=ticks)]
        if document["differences"]:
            shown.append(self._differences(document, apart))
        paper = with_people(self.words, document, self._compared(document, what, show, apart))
        return ShownAnswer(paper, shown, self.notes(document))

    @property
    def _percents(self) -> list[str]:
        return [self.words.percent(part / 4, 0) for part in range(5)]

    def by_arm(self, documents: Sequence[Document]) -> Iterator[ShownTable]:
        """Yield a table and dot plot of each two arms, with a row for each question whose share they compare."""
        plots: dict[tuple[str, ...], dict[str, tuple[Sequence[EstimateBar], Sequence[str], tuple[str, str]]]] = {}
        for document in documents:
            values, differences = document["values"], document["differences"]
            known = all(one["shown"] is not None for one in values)
            if document["groups"] == ARM and document["category"] and len(values) == 2 and known and differences:
                arms = tuple(self.names.category(ARM, one["group"].partition(ACROSS)[0]) for one in values)
                drawn = [self.to_draw(arm, one, self.write.percent) for arm, one in zip(arms, values, strict=True)]
                cells = [self.write.with_limits(one, "shown", self.write.percent) for one in values]
                cells.append(self.write.with_limits(differences[0], "shown", self.write.points))
                apart = self.write.estimate(differences[0], self.write.points)
                limits = self.write.limits(differences[0], self.write.points)
                plots.setdefault(arms, {})[self._question(document)] = bars(drawn, 0.0, 1.0), cells, (apart, limits)
        for arms, rows in plots.items():
            dots = DotPlot(arms, [(name, marks, apart) for name, (marks, _, apart) in rows.items()])
            headings = [self.words.translate("question"), *arms, self.words.translate("joint_difference")]
            lines = [(name, *cells) for name, (_, cells, _) in rows.items()]
            yield ShownTable(joined(arms), headings, lines, dots=dots, ticks=self._percents)

    def _question(self, document: Document) -> str:
        """Return the outcome's text, with its answer unless that is yes."""
        text, category = self.names.text(document["outcome"]), document["category"]
        return text if category == "yes" else f"{text}: {self.names.category(document['outcome'], category)}"

    def pairs(self, document: Document) -> ShownAnswer:
        """Format the associations of all pairs of questions."""
        lines = [
            (
                f"{self.names.label(one['first'])} · {self.names.label(one['second'])}",
                self.words.number(one["n"]),
                self.write.figure(one["statistic"]),
                self.words.number(one["df"]),
                self.write.p(one["p"]),
                self.write.p(one["q"]),
            )
            for one in document["pairs"]
        ]
        headings = [self.words.translate(f"joint_{key}") for key in ("pair", "reports", "chi_square", "df", "p", "q")]
        rule = self.words.translate("joint_pairs_rule", possible=document["possible"])
        title = self.words.translate("joint_pairs_title", reports=document["reports"])
        return ShownAnswer("", [ShownTable(title, headings, lines, sentences=[rule])], self.notes(document))

    def mixture(self, document: Document) -> ShownAnswer:
        """Format the shares of a design that the survey plans."""
        say, bounds = self.words.translate, document["bounds"]
        shares = [(say(f"joint_mixture_{name}"), {**one, "shown": one["share"]})
                  for name, one in document["shares"].items()]  # fmt: skip
        drawn = [self.to_draw(name, one, self.write.percent) for name, one in shares]
        ends = {} if bounds is None else {end: self.write.percent(share) for end, share in bounds.items()}
        told = [say("joint_mixture_bounds" if ends else "joint_mixture_no", **ends), say("joint_mixture_epsilon")]
        told += [say("joint_mixture_edge")] if document["at_edge"] else []
        n, asked = self.words.number(document["n"]), self.names.label(document["groups"][0]["name"])
        lines = [(each.name, each.value, each.limits) for each in drawn]
        headings = ["", say("models_estimate"), interval_heading(self.words, document)]
        title = say("joint_mixture_title", question=asked, n=n)
        return ShownAnswer("", [ShownTable(title, headings, lines, bars(drawn, 0.0, 1.0), told)], [])

    def known_values(self, document: Document) -> ShownAnswer:
        """Format a test of known values."""
        say, name, is_share = self.words.translate, document["question"], document["values"][0]["category"] is not None
        show = self.write.percent if is_share else self.write.figure
        labels = [self.names.category(name, one["category"]) if is_share else say("results_mean")
                  for one in document["values"]]  # fmt: skip
        drawn = [self.to_draw(label, one, show) for label, one in zip(labels, document["values"], strict=True)]
        known = [show(one["known"]) for one in document["values"]]
        lines = [(each.name, value, each.value, each.limits) for each, value in zip(drawn, known, strict=True)]
        headings = ["", say("joint_known"), say("models_estimate"), interval_heading(self.words, document)]
        title = say("joint_test_title", question=self.names.label(name), n=self.words.number(document["n"]))
        scale = (0.0, 1.0) if is_share else (None, None)
        sentences = [*self.among(document), say("joint_test_known", p=self.write.p_equals(document["p"]))]
        if document["statistic"] is not None:
            figures = {"statistic": self.write.figure(document["statistic"]), "df": self.words.number(document["df"])}
            sentences.append(say("joint_test_statistic", **figures))
        sentences.append(say(f"joint_test_{document['method'].partition('-')[0]}"))
        return ShownAnswer("", [ShownTable(title, headings, lines, bars(drawn, *scale), sentences)],
                           self.notes(document))  # fmt: skip

    def notes(self, document: Document) -> list[str]:
        """Return the notes of a document in the reader's language."""
        places = (("row", "rows"), ("column", "columns"), ("group", "groups"))
        of = {place: document[key] for place, key in places if key in document}
        return [self.names.note(note, **of) for note in document["warnings"]]

    def _tables(self, table: Document, where: str) -> Iterator[ShownTable]:
        rows, columns = self.names.label(table["rows"]), self.names.label(table["columns"])
        known = {"rows": rows, "columns": columns}
        shares, cells = ([f"joint_{key}", f"joint_{key}_where"][bool(where)] for key in ("shares", "cells"))
        title = self.words.translate(shares, **known, **({"where": where} if where else {}))
        drawn = self._bars(table)
        grid = self._with_declined(table, *self._grid(table, "conditional"))
        yield ShownTable(title, *grid, bars=drawn, sentences=list(self._below(table)))
        title = self.words.translate(cells, **known, **({"where": where} if where else {}))
        yield ShownTable(title, *self._grid(table, "cells"), folded=True)

    def _with_declined(
        self, document: Document, headings: Sequence[str], lines: Sequence[Sequence[str]]
    ) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """Return headings and lines with a column of the people who gave no answer, where there are some."""
        declined = document.get("declined")
        if not declined:
            return headings, lines
        hidden = document["people"] == "asked_and_answered"
        heading = self.words.translate("joint_not_asked" if hidden else "joint_absent")
        more = [self.write.with_limits(one, "shown", self.write.percent) for one in declined]
        return [*headings, heading], [[*line, cell] for line, cell in zip(lines, more, strict=True)]

    def among(self, document: Document) -> Iterator[str]:
        """Yield the people whom the shares describe, where they are not all."""
        if "people" in document:
            people = self.words.translate(f"joint_among_{document['people']}")
            yield self.words.translate("note_as_sentence", note=people)

    def _grid(self, table: Document, key: str) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        found = {
            (one["row"], one["column"]): self.write.with_limits(one, "shown", self.write.percent) for one in table[key]
        }
        columns = table["column_categories"]
        headings = [self.names.label(table["rows"]), *(self._column(table, each) for each in columns)]
        lines = [[self._row(table, row), *(found[row, each] for each in columns)] for row in table["row_categories"]]
        return headings, lines

    def _bars(self, table: Document) -> list[EstimateBar]:
        """Lay out the row shares; of two columns only yes or the last is drawn, since the other is its complement."""
        columns = table["column_categories"]
        shown = [main_answer(columns)] if len(columns) == 2 else columns
        drawn = [
            self.to_draw(f"{self._row(table, one['row'])}: {self._column(table, one['column'])}", one,
                          self.write.percent)
            for one in table["conditional"]
            if one["column"] in shown
        ]  # fmt: skip
        return bars(drawn, 0.0, 1.0)

    def to_draw(self, name: str, one: Document, show: Callable[[float], str]) -> ToDraw:
        """Return an estimate with its texts, from the figures of the document."""
        if one["shown"] is None and one["low"] is None:
            return ToDraw(name, self.words.translate("joint_not_shown"), "", None, None, None)
        return ToDraw(name, self.write.estimate(one, show), self.write.limits(one, show), one["shown"],
                      one["low"], one["high"])  # fmt: skip

    def _below(self, table: Document) -> Iterator[str]:
        yield from self.among(table)
        yield self.words.count("joint_pair_reports", table["n"])
        yield from self._test("joint_test", table["independence"])
        for key in MEASURES:
            if key in table:
                show = self.write.points if key == "risk_difference" else self.write.figure
                yield self.words.translate(f"joint_{key}", column=self._column(table, table["column_categories"][-1]),
                                     figure=self.write.with_limits(table[key], "estimate", show))  # fmt: skip
        forged = table["forged"]
        yield self.words.translate(
            "joint_forged", share=self.write.percent(forged["share"]), shift=self.write.points(forged["shift"])
        )
        if table["drawn_evenly"] is not None:
            yield self.words.translate("joint_drawn", p=self.write.p_equals(table["drawn_evenly"]))
        yield from self._weighted(table)

    def _below_comparison(self, document: Document) -> list[str]:
        reports = self.words.count("joint_pair_reports", document["n"])
        if ACROSS in document["values"][0]["group"]:
            reports = self.words.translate("joint_arm_reports", reports=self.words.number(document["n"]))
        tested = self._test("joint_test_groups", document["independence"])
        return [*self.among(document), reports, *tested, *self._weighted(document)]

    def _differences(self, document: Document, apart: Callable[[float], str]) -> ShownTable:
        drawn = []
        for one in document["differences"]:
            group, other = self._group(document, one["group"]), self._group(document, one["from"])
            drawn.append(self.to_draw(self.words.translate("joint_less", group=group, other=other), one, apart))
        lines = [(each.name, each.value, each.limits) for each in drawn]
        headings = [self.words.translate(f"joint_{key}") for key in ("groups", "difference")]
        headings.append(interval_heading(self.words, document))
        title = self.words.translate("joint_differences")
        return ShownTable(title, headings, lines, bars(drawn), [*self._ratios(document)])

    def _ratios(self, document: Document) -> Iterator[str]:
        for one in document.get("ratios", ()):
            group, other = self._group(document, one["group"]), self._group(document, one["from"])
            figure = self.write.with_limits(one, "shown", self.write.figure)
            yield self.words.translate("joint_ratio", group=group, other=other, figure=figure)

    def _test(self, key: str, test: Document | None, **known: str) -> list[str]:
        if test is None:
            return []
        figures = {"statistic": self.write.figure(test["statistic"]), "df": self.words.number(test["df"])}
        return [self.words.translate(key, **figures, p=self.write.p_equals(test["p"]), **known)]

    def _weighted(self, document: Document) -> Iterator[str]:
        if document["deff"] != 1:
            yield self.words.translate("joint_deff_of_rows", factor=self.words.number(document["deff"], 2))

    def _paper(self, table: Document, level: str) -> str:
        """Write the text for a paper: share of the last column in the last row, compared with the first row."""
        shares = {(one["row"], one["column"]): one for one in table["conditional"]}
        rows, column = table["row_categories"], main_answer(table["column_categories"])
        first, last = rows[0], rows[-1]
        # Where the other groups were too small, there is nothing to compare with.
        if len(rows) == 1 or any(shares[row, column]["shown"] is None for row in (first, last)):
            return ""
        here, there = (
            self.write.with_limits(shares[row, column], "shown", self.write.percent) for row in (last, first)
        )
        return self.words.translate(
            "joint_paper_table", rows=self.names.label(table["rows"]), row=self._row(table, last),
            other=self._row(table, first), columns=self.names.label(table["columns"]),
            column=self._column(table, column), here=here, there=there, n=table["n"], confidence=level,
        )  # fmt: skip

    def _compared(
        self, document: Document, what: str, show: Callable[[float], str], apart: Callable[[float], str]
    ) -> str:
        if not document["differences"] or (
            document["category"] is not None and any(map(_is_empty, document["values"]))
        ):
            return ""
        values = {one["group"]: self.write.with_limits(one, "shown", show) for one in document["values"]}
        found = document["differences"][-1]
        return self.words.translate(
            "joint_paper_compare", what=what, group=self._group(document, found["group"]),
            other=self._group(document, found["from"]), here=values[found["group"]], there=values[found["from"]],
            difference=self.write.with_limits(found, "shown", apart), n=document["n"],
            confidence=level_of(self.words, document),
        )  # fmt: skip

    def _what(self, document: Document) -> str:
        outcome = (self.names.text if document["groups"] == ARM else self.names.label)(document["outcome"])
        if document["category"] is None:
            return self.words.translate("joint_mean_of", outcome=outcome)
        category = self.names.category(document["outcome"], document["category"])
        return self.words.translate("joint_share_of", outcome=outcome, category=category)

    def _group(self, document: Document, group: str) -> str:
        arm, across, question = group.partition(ACROSS)
        name, groups = self.names.category(document["groups"], arm), [one["group"] for one in document["values"]]
        # Copies of one question in two arms have its text once, above.
        copies = len({self.names.text(each.partition(ACROSS)[2]) for each in groups}) == 1
        return name if copies else name + across + self.names.label(question)

    def _row(self, table: Document, row: str) -> str:
        return self.names.category(table["rows"], row)

    def _column(self, table: Document, column: str) -> str:
        return self.names.category(table["columns"], column)
