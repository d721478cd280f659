"""Format results of analyses for a reader, on a page or in a terminal.

A result becomes tables, bars with intervals, and sentences. All numbers come from the result document; only odds ratios
are computed here, as exp(coefficient).
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sottovoce.aggregator.analysis.documents import COUNTS_ALONE, MEASURES
from sottovoce.aggregator.analysis.mixtures.mixture import LATER
from sottovoce.aggregator.analysis.one_sample_test import SCORE
from sottovoce.aggregator.analysis.selection import PERHAPS_ASKED
from sottovoce.aggregator.analysis.tables.arm_comparison import ACROSS
from sottovoce.aggregator.analysis.tables.table import main_answer
from sottovoce.aggregator.analysis.variable_names import VariableNames
from sottovoce.aggregator.estimators.question_variables import bare
from sottovoce.aggregator.i18n.translator import Show
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.types.base import DayGrid


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
    found = []
    for each in drawn:
        if each.figure is not None or each.low is not None:
            ends = (start if each.low is None else each.low, end if each.high is None else each.high, 0.0, each.figure)
            places = [min(max(100 * ((value or 0.0) - start) / (end - start), 0.0), 100.0) for value in ends]
            low, high, zero, place = (f"{value:.2f}" for value in places)
            found.append(EstimateBar(each.name, each.value, each.limits, place if each.figure is not None else "",
                                     low, high, zero))  # fmt: skip
    return found


USUAL_LEVEL = 0.95


def joined(parts: Iterable[str]) -> str:
    """Join the non-empty names by commas."""
    return ", ".join(filter(None, parts))


Document = Mapping[str, Any]


def randomized_in(document: Document) -> Sequence[str]:
    """Return the variables of a result whose answers were randomized; only of these may a text claim noise."""
    return [*document.get("randomized", ())]


class AnswersInWords:
    """Formatter of answers, with labels of the survey's variables."""

    def __init__(self, names: VariableNames) -> None:
        self.names, self.words = names, names.words
        self.say, self.write = self.words.translate, self.words.write

    def level(self, document: Document) -> str:
        """Return the level of a document's intervals as a percentage."""
        return self.words.percent(document.get("confidence", USUAL_LEVEL), 0)

    def interval(self, document: Document) -> str:
        """Return the heading of a document's intervals."""
        return self.say("results_interval_head", confidence=self.level(document))

    def shows(self, document: Document, name: str, *, is_share: bool) -> tuple[Show, Show]:
        """Return how a share or mean of a variable is written, and how a difference of two is."""
        if name in document.get("dates", ()):
            return DayGrid.figure, lambda value: self.say("joint_days", number=self.write.rounded(value, 1))
        return (self.write.percent, self.write.points) if is_share else (self.write.figure, self.write.figure)

    def to_draw(self, name: str, one: Document, show: Show) -> ToDraw:
        """Return an estimate with its texts, from the figures of the document."""
        if one.get("shown", 0) is None and one["low"] is None:
            return ToDraw(name, self.say("joint_not_shown"), "", None, None, None)
        figure, limits = one.get("shown", one.get("estimate")), self.write.limits(one, show)
        return ToDraw(name, self.write.estimate(one, show), limits, figure, one["low"], one["high"])

    def estimates(
        self, title: str, headings: tuple[str, str], drawn: Sequence[ToDraw], document: Document,
        scale: tuple[float | None, float | None] = (None, None), sentences: Sequence[str] = (),
    ) -> ShownTable:  # fmt: skip
        """Return estimates with intervals as a table and bars; ``headings`` are of their names and of the estimates."""
        lines = [(each.name, each.value, each.limits) for each in drawn]
        return ShownTable(title, (*headings, self.interval(document)), lines, bars(drawn, *scale), sentences)

    def line(self, name: str, one: Document, show: Show, error: Show) -> tuple[str, str, str, str]:
        """Return the row of an estimate: its name, figure, standard error and limits."""
        limits, error = self.write.limits(one, show), self.write.following(one, error)
        return name, self.write.estimate(one, show), self.write.point(one["std_error"], error), limits

    def headings(self, document: Document, name: str = "", estimate: str = "models_estimate") -> list[str]:
        """Return the headings of rows of ``line``; ``name`` is the first one, ``estimate`` a key."""
        return [name, self.say(estimate), self.say("models_std_error"), self.interval(document)]

    def term(self, term: str) -> str:
        """Return the label of a model term, also of the constant."""
        return self.say("models_constant") if term == CONSTANT else self.names.term(term)

    def likelihood(self, document: Document) -> str:
        """Return a sentence with the maximum of the log likelihood."""
        return self.say("models_log_likelihood", value=self.write.rounded(document["log_likelihood"], 3))

    def class_model(
        self, document: Document, shares: Iterable[tuple[str, Document]], named: Mapping[Any, str], told: Sequence[str]
    ) -> ShownTable:
        """Return a model of classes of people: its fitted shares, and the coefficients of each class by its name."""
        model, write = document["model"], self.write
        lines = [self.line(name, one, write.percent, write.points) for name, one in shares]
        for one in model["coefficients"]:
            name = f"{named[one.get('category', one.get('treated'))]}: {self.term(one['term'])}"
            lines.append(self.line(name, one, write.figure, write.figure))
        title = self.say("models_likelihood_title", formula=model["formula"], n=model["n"])
        return ShownTable(title, self.headings(document), lines, sentences=[self.likelihood(model), *told])

    def tested(self, test: Document) -> dict[str, str]:
        """Return statistic, degrees of freedom and p of a test as texts."""
        figures = {"statistic": self.write.figure(test["statistic"]), "df": self.words.number(test["df"])}
        return {**figures, "p": self.write.p_equals(test["p"])}

    def hypothesis(self, test: Document) -> str:
        """Return a sentence with a likelihood-ratio test of a hypothesis."""
        return self.say("models_test_of", note=self.names.translate_note(test["hypothesis"]), **self.tested(test))

    def about_figures(self, document: Document) -> list[str]:
        """Return sentences for a paper: which answers were randomized, and whom figures describe where not all."""
        asked = (self.say("joint_paper_question", question=self.names.label(name)) for name in randomized_in(document))
        questions = joined(asked)
        noise = [self.say("joint_paper_randomized", questions=questions)] if questions else []
        noise += [self.say("joint_paper_weighted")] if document.get("deff", 1) != 1 else []
        if people := document.get("random_intercept"):
            noise.append(self.say("joint_paper_intercept", clusters=self.words.number(people["clusters"])))
        described = document.get("people", "").removeprefix("perhaps_")
        return [*noise, *([self.say(f"joint_paper_{described}")] if described else [])]

    def whole(self, document: Document, paper: str) -> str:
        """Return a text for a paper ("" for none) with what is true of all its figures."""
        return self.say("gap").join([paper, *self.about_figures(document)]) if paper else ""

    def weighted(self, document: Document, key: str = "joint_deff_of_rows") -> Iterator[str]:
        """Yield the design effect of the weights, where there are some."""
        if document.get("deff", 1) != 1:
            yield self.say(key, factor=self.words.number(document["deff"], 2))

    def notes(self, document: Document) -> list[str]:
        """Return the notes of a document in the reader's language."""
        places = (("row", "rows"), ("column", "columns"), ("group", "groups"))
        of = {place: document[key] for place, key in places if key in document}
        return [self.names.note(note, **of) for note in document["warnings"]]

    def among(self, document: Document) -> Iterator[str]:
        """Yield the people whom the shares describe, where they are not all."""
        if "people" in document:
            people = self.say(f"joint_among_{document['people'].removeprefix('perhaps_')}")
            yield self.say("note_as_sentence", note=people)


class TablesInWords(AnswersInWords):
    """Formatter of crosstabs, comparisons and pairs of questions."""

    def crosstab(self, document: Document) -> ShownAnswer:
        """Format a crosstab of two questions, stratified by a third one if given."""
        interval = self.interval(document)
        if "within" not in document:
            paper = self.whole(document, self._paper(document, self.level(document)))
            return ShownAnswer(paper, list(self._tables(document, "", interval)), self.notes(document))
        within, found = document["within"], document["tables"]
        shown: list[ShownTable] = []
        for table in found:
            shown += self._tables(table, self.names.term(f"{within}={table['category']}"), interval)
        test = self._test("joint_test_within", document["independence"], within=self.names.label(within))
        shown += [ShownTable(self.say("joint_together"), sentences=test)] if test else []
        notes = [note for table in (*found, document) for note in self.notes(table)]
        return ShownAnswer("", shown, list(dict.fromkeys(notes)))

    def compare(self, document: Document) -> ShownAnswer:
        """Format a comparison of a share or a mean between groups."""
        is_share = document["category"] is not None
        show, apart = self.shows(document, document["outcome"], is_share=is_share)
        what = self._what(document)
        drawn = [self.to_draw(self._group(document, one["group"]), one, show) for one in document["values"]]
        ends = (0.0, 1.0) if is_share else (None, None)
        dots = next((table.dots for table in self.by_arm([document])), None)
        headings = self.names.label(document["groups"]), what
        table = self.estimates(what, headings, drawn, document, ends, self._below_comparison(document))
        wider, lines = self._with_declined(document, table.headings, table.lines)
        shown = [replace(table, headings=wider, lines=lines, dots=dots, ticks=self._percents if is_share else ())]
        if document["differences"]:
            shown.append(self._differences(document, apart))
        paper = self.whole(document, self._compared(document, what, show, apart))
        return ShownAnswer(paper, shown, self.notes(document))

    @property
    def _percents(self) -> list[str]:
        return [self.words.percent(part / 4, 0) for part in range(5)]

    def by_arm(self, documents: Sequence[Document]) -> Iterator[ShownTable]:
        """Yield a table and dot plot of each two arms and level, with a row for each question that they compare."""
        write, plots = self.write, dict[tuple[str, tuple[str, ...]], dict[str, tuple[Any, Sequence[str]]]]()
        for document in documents:
            values, differences = document["values"], document["differences"]
            known = all(one["shown"] is not None for one in values)
            if document["groups"] == ARM and document["category"] and len(values) == 2 and known and differences:
                arms = tuple(self.names.category(ARM, one["group"].partition(ACROSS)[0]) for one in values)
                drawn = [self.to_draw(arm, one, write.percent) for arm, one in zip(arms, values, strict=True)]
                cells = [write.with_limits(one, "shown", write.percent) for one in values]
                cells.append(write.with_limits(differences[0], "shown", write.points))
                apart = write.estimate(differences[0], write.points), write.limits(differences[0], write.points)
                rows = plots.setdefault((self.interval(document), arms), {})
                rows[self._question(document)] = (bars(drawn, 0.0, 1.0), apart), cells
        for (interval, arms), rows in plots.items():
            dots = DotPlot(arms, [(name, *drawn) for name, (drawn, _) in rows.items()])
            headings = [self.say("question"), *arms, self.say("joint_difference")]
            lines = [(name, *cells) for name, (_, cells) in rows.items()]
            title = self.say("joint_with_limits", figure=joined(arms), limits=interval)
            yield ShownTable(title, headings, lines, dots=dots, ticks=self._percents)

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
        headings = [self.say(f"joint_{key}") for key in ("pair", "reports", "chi_square", "df", "p", "q")]
        rule = self.say("joint_pairs_rule", possible=document["possible"])
        title = self.say("joint_pairs_title", reports=document["reports"])
        return ShownAnswer("", [ShownTable(title, headings, lines, sentences=[rule])], self.notes(document))

    def mixture(self, document: Document) -> ShownAnswer:
        """Format the shares of a design that the survey plans."""
        write, shares = self.write, self._classes(document["shares"])
        lines = [self.line(name, one, write.percent, write.points) for name, one in shares]
        drawn = bars([self.to_draw(name, one, write.percent) for name, one in shares], 0.0, 1.0)
        told = [self.likelihood(document)]
        if document["misfit"]["df"]:
            told.append(self.say("joint_misfit", **self.tested(document["misfit"])))
        ends = {end: write.percent(bound) for end, bound in (document["bounds"] or {}).items()}
        told.append(self.say("joint_mixture_bounds", **ends) if ends else self.names.note(document["disobedience"]))
        told += [*map(self.names.note, document["privacy"]), *self.weighted(document, "joint_deff")]
        asked = joined(dict.fromkeys(self._sample(each["name"]) for each in document["groups"]))
        known = {key: document[key] for key in ("file", "design", "n")}
        # Counts alone have neither a file nor groups with names.
        title = "joint_mixture_counts" if document["file"] == COUNTS_ALONE else "joint_mixture_title"
        tables = [ShownTable(self.say(title, groups=asked, **known), self.headings(document), lines, drawn, told)]
        if "model" in document:
            of_classes, names = self._classes(document["model"]["shares"]), {name: name for name in document["shares"]}
            odds = self.say("joint_mixture_odds", base=self._class("beta"))
            tables.append(self.class_model(document, of_classes, names, [odds]))
        return ShownAnswer("", tables, self.notes(document))

    def _sample(self, name: str) -> str:
        question, _, revision = name.partition(LATER)
        text = self.names.text(question)
        return f"{text} ({self.say('settings_revision', revision=revision)})" if revision else text

    def _classes(self, shares: Document) -> Sequence[tuple[str, Document]]:
        """Return the shares of classes of people with their names."""
        return [(self._class(name), {**one, "shown": one["share"], "std_error": one["se"]})
                for name, one in shares.items()]  # fmt: skip

    def _class(self, name: str) -> str:
        # A page takes the direction of a name from its first letter, so the symbol comes last.
        return f"{self.say(f'joint_mixture_{name}')} ({name})"

    def known_values(self, document: Document) -> ShownAnswer:
        """Format a test of known values."""
        say, name, is_share = self.say, document["question"], document["values"][0]["category"] is not None
        show, _ = self.shows(document, name, is_share=is_share)
        labels = [self.names.category(name, one["category"]) if is_share else say("results_mean")
                  for one in document["values"]]  # fmt: skip
        drawn = [self.to_draw(label, one, show) for label, one in zip(labels, document["values"], strict=True)]
        lines = [(each.name, show(one["known"]), each.value, each.limits)
                 for each, one in zip(drawn, document["values"], strict=True)]  # fmt: skip
        headings = ["", say("joint_known"), say("models_estimate"), self.interval(document)]
        title = say("joint_test_title", question=self.names.label(name), n=self.words.number(document["n"]))
        scale = (0.0, 1.0) if is_share else (None, None)
        sentences = [*self.among(document), say("joint_test_known", p=self.write.p_equals(document["p"]))]
        if document["statistic"] is not None:
            sentences.append(say("joint_test_statistic", **self.tested(document)))
        # Of public answers the chi-square test is the usual one.
        if document["method"] != SCORE or randomized_in(document):
            sentences.append(say(f"joint_test_{document['method'].partition('-')[0]}"))
        return ShownAnswer("", [ShownTable(title, headings, lines, bars(drawn, *scale), sentences)],
                           self.notes(document))  # fmt: skip

    def _tables(self, table: Document, where: str, interval: str) -> Iterator[ShownTable]:
        known = {"rows": self.names.label(table["rows"]), "columns": self.names.label(table["columns"])}
        known |= {"where": where} if where else {}
        shares, cells = (
            self.say("joint_with_limits", figure=self.say(f"{key}_where" if where else key, **known), limits=interval)
            for key in ("joint_shares", "joint_cells")
        )
        write, name = self.write, self.names.category
        rows = {each: name(table["rows"], each) for each in table["row_categories"]}
        columns = {each: name(table["columns"], each) for each in table["column_categories"]}
        headings, grids = [self.names.label(table["rows"]), *columns.values()], []
        for key in ("conditional", "cells"):
            found = {(one["row"], one["column"]): write.with_limits(one, "shown", write.percent) for one in table[key]}
            grids.append([[label, *(found[row, each] for each in columns)] for row, label in rows.items()])
        # Of two columns only yes or the last is drawn, since the other is its complement.
        drawn = [
            self.to_draw(f"{rows[one['row']]}: {columns[one['column']]}", one, write.percent)
            for one in table["conditional"]
            if len(columns) != 2 or one["column"] == main_answer([*columns])
        ]
        grid = self._with_declined(table, headings, grids[0])
        yield ShownTable(shares, *grid, bars=bars(drawn, 0.0, 1.0), sentences=list(self._below(table)))
        yield ShownTable(cells, headings, grids[1], folded=True)

    def _with_declined(
        self, document: Document, headings: Sequence[str], lines: Sequence[Sequence[str]]
    ) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """Return headings and lines with a column of the people who gave no answer, where there are some."""
        declined = document.get("declined")
        if not declined:
            return headings, lines
        heading = self.say("joint_not_asked" if document["people"] == PERHAPS_ASKED else "joint_absent")
        more = [self.write.with_limits(one, "shown", self.write.percent) for one in declined]
        return [*headings, heading], [[*line, cell] for line, cell in zip(lines, more, strict=True)]

    def _below(self, table: Document) -> Iterator[str]:
        yield from self.among(table)
        yield self.words.count("joint_pair_reports", table["n"])
        yield from self._test("joint_test", table["independence"])
        for key in MEASURES:
            if key in table:
                show = self.write.points if key == "risk_difference" else self.write.figure
                column = self.names.category(table["columns"], table["column_categories"][-1])
                yield self.say(f"joint_{key}", column=column,
                               figure=self.write.with_limits(table[key], "estimate", show))  # fmt: skip
        forged = table["forged"]
        yield self.say(
            "joint_forged", share=self.write.percent(forged["share"]), shift=self.write.points(forged["shift"])
        )
        if table["drawn_evenly"] is not None:
            yield self.say("joint_drawn", p=self.write.p_equals(table["drawn_evenly"]))
        yield from self.weighted(table)

    def _below_comparison(self, document: Document) -> list[str]:
        reports = self.words.count("joint_pair_reports", document["n"])
        if ACROSS in document["values"][0]["group"]:
            reports = self.say("joint_arm_reports", reports=self.words.number(document["n"]))
        tested = self._test("joint_test_groups", document["independence"])
        return [*self.among(document), reports, *tested, *self.weighted(document)]

    def _differences(self, document: Document, apart: Show) -> ShownTable:
        drawn = [self.to_draw(self.say("joint_less", **self._both(document, one)), one, apart)
                 for one in document["differences"]]  # fmt: skip
        figures = [(one, self.write.with_limits(one, "shown", self.write.figure)) for one in document.get("ratios", ())]
        ratios = [self.say("joint_ratio", **self._both(document, one), figure=figure) for one, figure in figures]
        headings = self.say("joint_groups"), self.say("joint_difference")
        return self.estimates(self.say("joint_differences"), headings, drawn, document, sentences=ratios)

    def _both(self, document: Document, one: Document) -> dict[str, str]:
        return {"group": self._group(document, one["group"]), "other": self._group(document, one["from"])}

    def _test(self, key: str, test: Document | None, **known: str) -> list[str]:
        return [] if test is None else [self.say(key, **self.tested(test), **known)]

    def _paper(self, table: Document, level: str) -> str:
        """Write the text for a paper: share of yes or the last column in the two largest rows."""
        shares = {(one["row"], one["column"]): one for one in table["conditional"]}
        column, sizes = main_answer(table["column_categories"]), dict.fromkeys(table["row_categories"], 0.0)
        for one in table["cells"]:
            sizes[one["row"]] += one["raw"] or 0.0
        # Sizes, unlike the shares themselves, do not make the choice of a sentence depend on what was found.
        rows = sorted(sorted(sizes, key=sizes.__getitem__)[-2:], key=[*sizes].index)
        # Where the other groups were too small, there is nothing to compare with.
        if len(rows) == 1 or any(shares[row, column]["shown"] is None for row in rows):
            return ""
        first, last = rows
        here, there = (
            self.write.with_limits(shares[row, column], "shown", self.write.percent) for row in (last, first)
        )
        label, category = self.names.label, self.names.category
        return self.say(
            "joint_paper_table", rows=label(table["rows"]), row=category(table["rows"], last),
            other=category(table["rows"], first), columns=label(table["columns"]),
            column=category(table["columns"], column), here=here, there=there, n=table["n"], confidence=level,
        )  # fmt: skip

    def _compared(self, document: Document, what: str, show: Show, apart: Show) -> str:
        if not document["differences"]:
            return ""
        found = min(
            document["differences"], key=lambda one: math.inf if one["high"] is None else one["high"] - one["low"]
        )
        values = {one["group"]: one for one in document["values"]}
        pair = [values[found[key]] for key in ("group", "from")]
        # A share without an estimate, or with none above 0, is compared with none.
        if document["category"] is not None and any((one["shown"] or 0) <= 0 for one in pair):
            return ""
        here, there = (self.write.with_limits(one, "shown", show) for one in pair)
        return self.say(
            "joint_paper_compare", what=what, **self._both(document, found), here=here, there=there,
            difference=self.write.with_limits(found, "shown", apart), n=document["n"],
            confidence=self.level(document),
        )  # fmt: skip

    def _what(self, document: Document) -> str:
        outcome = (self.names.text if document["groups"] == ARM else self.names.label)(document["outcome"])
        if document["category"] is None:
            return self.say("joint_mean_of", outcome=outcome)
        category = self.names.category(document["outcome"], document["category"])
        return self.say("joint_share_of", outcome=outcome, category=category)

    def _group(self, document: Document, group: str) -> str:
        arm, across, question = group.partition(ACROSS)
        name, groups = self.names.category(document["groups"], arm), [one["group"] for one in document["values"]]
        # Copies of one question in two arms have its text once, above.
        copies = len({self.names.text(each.partition(ACROSS)[2]) for each in groups}) == 1
        return name if copies else name + across + self.names.label(question)


CONSTANT = "(constant)"
OTHER_MODELS = ("linear", "declining", "of_predictor")
OF_ODDS = frozenset({"logit", "multinomial", "ordered"})
ENDS = ("estimate", "low", "high")
AXES = (4.0, 16.0, 100.0)
"""Ends of the axis of odds ratios; longer intervals are cut there."""
MOST_WORDS = 120
"""Most words of the text for a paper."""
LARGEST_EXPONENT = 700.0
"""Largest argument for ``exp``; beyond it a float overflows."""


class ModelsInWords(AnswersInWords):
    """Formatter of regressions: coefficients, tests, effects, predictions."""

    def regression(self, document: Document) -> ShownAnswer:
        """Format a model with its tests, marginal effects, predictions and comparison models."""
        named = {"model": self.say(f"models_{document['model']}"), "outcome": self.names.label(document["outcome"])}
        title = self.say("models_title", n=document["n"], **named)
        title = title[:1].upper() + title[1:]
        shown = [*self._odds(document), self._coefficients(document, title, folded=False)]
        if document["ame"]:
            shown.append(self._effects(document))
        if document.get("predictions"):
            shown.append(self._predictions(document))
        if document.get("detectable"):
            shown.append(self._detectable(document))
        for key in OTHER_MODELS:
            if document.get(key) is not None:
                model = {"confidence": document.get("confidence", USUAL_LEVEL), **document[key]}
                shown.append(self._coefficients(model, self.say(f"models_beside_{key}"), folded=True))
        if "random_intercept" in document:
            shown.append(self._random_intercept(document))
        warnings = [note for key in OTHER_MODELS if document.get(key) for note in document[key]["warnings"]]
        notes = [self.names.note(note) for note in dict.fromkeys([*document["warnings"], *warnings])]
        return ShownAnswer(self.whole(document, self._paper(document)), shown, notes)

    def _odds(self, document: Document) -> list[ShownTable]:
        """Format the odds ratios, as a table and in sentences; empty for a model without odds."""
        found = self._slopes(document) if document["model"] in OF_ODDS else []
        drawn = [ToDraw(self._name(document, one), *self._ratio(one), *(one[key] for key in ENDS)) for one in found]
        ends = [abs(one[key]) for one in found for key in ENDS if one[key] is not None]
        # On a logarithmic axis, with 1 in the middle and a mark at each root of its end.
        end = next((end for end in AXES if math.log(end) >= max(ends, default=0.0)), AXES[-1])
        ticks = [self.words.number(end ** (part / 2), 0 if part >= 0 else 2) for part in range(-2, 3)]
        if not drawn:
            return []
        headings = self.say("models_term"), self.say("models_odds_ratio")
        sentences = [self._odds_in_words(document, one) for one in self._alone(document) if one["estimate"] is not None]
        scale = -math.log(end), math.log(end)
        table = self.estimates(self.say("models_odds"), headings, drawn, document, scale, sentences)
        return [replace(table, ticks=ticks)]

    def _odds_in_words(self, document: Document, one: Document) -> str:
        ratio, limits = self._ratio(one)
        known = {"term": self._change(one["term"]), "ratio": ratio, "limits": limits}
        if document["model"] == "ordered":
            return self.say("models_odds_ordered", outcome=self.names.label(document["outcome"]), **known)
        return self.say("models_odds_words", outcome=self._explained(document, one), **known)

    def _change(self, term: str) -> str:
        """Name what a coefficient compares with the rest: a category, or one more of a number."""
        return self.names.term(bare(term)) + ("" if "=" in term else " + 1")

    def _explained(self, document: Document, one: Document) -> str:
        """Name the category that the odds refer to; the last answer if the coefficient names none ("yes" of yes/no)."""
        outcome = document["outcome"]
        category = one.get("category") or next(reversed(self.names.answers(outcome)), "")
        label = self.names.label(outcome)
        return f"{label} = {self.names.category(outcome, category)}" if category else label

    def _ratio(self, one: Document) -> tuple[str, str]:
        figures = {key: _exp(one[key]) for key in ("estimate", "low", "high")}
        return self.write.estimate(figures, self.write.figure), self.write.limits(figures, self.write.figure)

    def _coefficients(self, document: Document, title: str, *, folded: bool) -> ShownTable:
        show = self.write.figure
        found = [(self._name(document, one), one) for one in document["coefficients"]]
        lines = [self.line(name, one, show, show) for name, one in found]
        sentences = [*self.among(document), self.say(f"models_errors_{document['std_error_kind']}")]
        sentences += self._tests(document)
        headings = self.headings(document, self.say("models_term"))
        return ShownTable(title, headings, lines, sentences=sentences, folded=folded)

    def _random_intercept(self, document: Document) -> ShownTable:
        found, show = document["random_intercept"], self.write.figure
        lines = [self.line(self.say("models_intercept_spread"), found["sd"], show, show)]
        counts = [self.say(f"models_{key}", **{key: found[key]}) for key in ("clusters", "points")]
        headings, told = self.headings(document, self.say("models_term")), [*counts, self.hypothesis(found["test"])]
        return ShownTable(self.say("models_cluster_effect"), headings, lines, sentences=told)

    def _tests(self, document: Document) -> Iterator[str]:
        for test in document["tests"]:
            yield self.say("models_test", predictor=self.names.label(test["predictor"]), **self.tested(test))
        if document.get("declining_test") is not None:
            yield self.say("models_declining_test", **self.tested(document["declining_test"]))
        yield from self.weighted(document, "joint_deff")

    def _effects(self, document: Document) -> ShownTable:
        named = [(self._effect(document, one), one) for one in document["ame"]]
        is_linear = document["model"] not in OF_ODDS
        show, words = (self.write.figure, "models_ame_linear") if is_linear else (self.write.points, "models_ame_words")
        drawn = [self.to_draw(name, one, show) for name, one in named]
        lines = [self.line(name, one, show, show) for name, one in named]
        title, explanation = self.say("models_ame"), [self.say(words)]
        if not is_linear and {*randomized_in(document)} - {document["outcome"]}:
            explanation.append(self.say("models_ame_randomized"))
        headings = self.headings(document, self.say("models_term"), "joint_difference")
        return ShownTable(title, headings, lines, bars(drawn), explanation)

    def _effect(self, document: Document, one: Document) -> str:
        key, variable = "difference" if "base" in one else "derivative", one["term"].partition("=")[0]
        base = self.names.term(f"{variable}={one.get('base')}")
        return self.say(f"models_effect_{key}", term=self._name(document, one), base=base)

    def _predictions(self, document: Document) -> ShownTable:
        show, _ = self.shows(document, document["outcome"], is_share=document["model"] != "linear")
        drawn = [self.to_draw(self._where(document, one), one, show) for one in document["predictions"]]
        headings = self.say("models_where"), self.say("models_estimate")
        ends = (None, None) if document["model"] == "linear" else (0.0, 1.0)
        return self.estimates(self.say("models_predictions"), headings, drawn, document, ends)

    def _detectable(self, document: Document) -> ShownTable:
        """Format the smallest effects that these reports find, as odds ratios in a model of odds."""
        of_odds = document["model"] in OF_ODDS
        lines = [
            (
                self._name(document, one),
                self.write.point(_exp(one["smallest"]) if of_odds else one["smallest"], self.write.figure),
                *([self.write.point(one.get("people"), self.words.number)] if of_odds else []),
            )
            for one in document["detectable"]
        ]
        keys = ["models_term", *(("models_odds_ratio", "models_people") if of_odds else ("models_estimate",))]
        title, told = self.say("models_detectable"), [self.say("models_detectable_words")]
        if of_odds and not all("=" in one["term"] for one in document["detectable"]):
            told.append(self.say("models_people_number"))
        return ShownTable(title, [*map(self.say, keys)], lines, sentences=told, folded=True)

    def _where(self, document: Document, one: Document) -> str:
        at = joined(self.names.term(f"{name}={value}") for name, value in one["at"].items())
        return f"{at}: {self.names.category(document['outcome'], one['category'])}" if one.get("category") else at

    def _paper(self, document: Document) -> str:
        """Write the text for a paper, about the terms of the first predictor, in as many words as it may have."""
        found = [one for one in self._alone(document) if one["estimate"] is not None]
        most = MOST_WORDS - len(" ".join(self.about_figures(document)).split())
        predictor, text = next((one["term"].partition("=")[0] for one in found), ""), ""
        for one in found:
            sentence = self._paper_of(document, one) if one["term"].partition("=")[0] == predictor else ""
            if not text or len(f"{text} {sentence}".split()) <= most:
                text = self.say("gap").join(filter(None, [text, sentence]))
        return text

    def _paper_of(self, document: Document, one: Document) -> str:
        """Write a sentence on one term, which claims an association only where the interval is on one side."""
        known = {"term": self._change(one["term"]), "n": document["n"], "confidence": self.level(document)}
        key, measure, outcome = "models_paper_linear", "models_estimate", self.names.label(document["outcome"])
        figure = self.write.with_limits(one, "estimate", self.write.figure)
        if document["model"] in OF_ODDS:
            ratio, limits = self._ratio(one)
            figure = self.say("joint_with_limits", figure=ratio, limits=limits)
            key, measure, outcome = "models_paper_odds", "models_odds_ratio", self._explained(document, one)
        if one["low"] is None or one["high"] is None or one["low"] <= 0 <= one["high"]:
            key, known["term"] = "models_paper_unclear", self.names.term(one["term"])
            known["measure"] = self.say(measure)
        if key != "models_paper_linear":
            known["model"] = self.say(f"models_{document['model']}")
        return self.say(key, outcome=outcome, figure=figure, **known)

    def _slopes(self, document: Document) -> Sequence[Document]:
        """Return the coefficients of the chosen predictors, without constant, strata and cut points."""
        own = [one for one in document["coefficients"] if "|" not in one["term"] and not one["term"].startswith("(")]
        return [one for one in own if self.names.variables_in(one["term"])]

    def _alone(self, document: Document) -> Sequence[Document]:
        """Return the coefficients of variables that no other term has, which alone describe what a variable changes."""
        without = (re.sub("=[^:]*", "", one["term"]) for one in self._slopes(document))
        slopes = [*zip(self._slopes(document), without, strict=True)]
        used = Counter(name for term in {term for _, term in slopes} for name in self.names.variables_in(term))
        return [one for one, term in slopes if self.names.is_variable(term) and used[bare(term)] == 1]

    def _name(self, document: Document, one: Document) -> str:
        outcome, (lower, is_cut, upper) = document["outcome"], one["term"].partition("|")
        cut = f"{self.names.category(outcome, lower)} | {self.names.category(outcome, upper)}"
        term, category = cut if is_cut else self.term(one["term"]), one.get("category")
        return f"{self.names.category(outcome, category)}: {term}" if category else term


def _exp(value: float | None) -> float | None:
    return None if value is None or abs(value) > LARGEST_EXPONENT else math.exp(value)


def planned_tables(comparisons: Sequence[Document], names: VariableNames) -> list[ShownTable]:
    """Format planned comparisons as one dot plot, then each as on Tables: figures of arms, and planned measure."""
    written, tables, before = TablesInWords(names), list[ShownTable](), None
    for made in comparisons:
        asked = {key: value for key, value in made["planned"].items() if key != "measure"}
        if made["comparison"] is None:
            why = [written.say("joint_why_analysis_stopped"), names.note(made["problem"])]
            tables.append(ShownTable(names.label(asked["question"]), sentences=why))
            continue
        shown = written.mixture(made["comparison"]) if "design" in asked else written.compare(made["comparison"])
        values, *measured = shown.tables
        if asked != before:
            told = [*values.sentences, *shown.notes]
            tables.append(replace(values, dots=None, folded=values.dots is not None, sentences=told))
        before = asked
        for each in measured:
            if made["planned"].get("measure", "difference") != "difference":
                tables[-1] = replace(tables[-1], sentences=[*each.sentences, *tables[-1].sentences])
            elif not values.dots:
                tables.append(replace(each, title=f"{values.title}: {each.title}", sentences=()))
    compared = [made["comparison"] for made in comparisons if "design" not in made["planned"]]
    return [*written.by_arm([each for each in compared if each is not None]), *tables]
