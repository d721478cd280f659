"""Format regression results for the page: odds ratios, average marginal effects and predictions.

All numbers come from the result document; only odds ratios are computed here, as exp(coefficient).
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.aggregator.i18n.formatting import Show
from sottovoce.aggregator.studio.results.table_view import (
    USUAL_LEVEL,
    AnswersInWords,
    ShownAnswer,
    ShownTable,
    ToDraw,
    bars,
    interval_heading,
    joined,
    level_of,
    with_people,
)

Document = Mapping[str, Any]

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


@dataclass(frozen=True)
class ModelsInWords(AnswersInWords):
    """Formatter of regressions: coefficients, tests, effects, predictions."""

    def regression(self, document: Document) -> ShownAnswer:
        """Format a model with its tests, marginal effects, predictions and comparison models."""
        shown = [*self._odds(document), self._coefficients(document, self._title(document), folded=False)]
        if document["ame"]:
            shown.append(self._effects(document))
        if document.get("predictions"):
            shown.append(self._predictions(document))
        if document.get("detectable"):
            shown.append(self._detectable(document))
        for key in OTHER_MODELS:
            if document.get(key) is not None:
                model = {"confidence": document.get("confidence", USUAL_LEVEL), **document[key]}
                shown.append(self._coefficients(model, self.words.translate(f"models_beside_{key}"), folded=True))
        warnings = [note for key in OTHER_MODELS if document.get(key) for note in document[key]["warnings"]]
        notes = [self.names.note(note) for note in dict.fromkeys([*document["warnings"], *warnings])]
        return ShownAnswer(with_people(self.words, document, self._paper(document)), shown, notes)

    def _title(self, document: Document) -> str:
        model = self.words.translate(f"models_{document['model']}")
        outcome = self.names.label(document["outcome"])
        return self.words.translate("models_title", model=model, outcome=outcome, n=document["n"])

    def _odds(self, document: Document) -> list[ShownTable]:
        """Format the odds ratios, as a table and in sentences; empty for a model without odds."""
        found = self._slopes(document) if document["model"] in OF_ODDS else []
        lines = [(self._name(document, one), *self._ratio(one)) for one in found]
        drawn = [ToDraw(*line, *(one[key] for key in ENDS)) for line, one in zip(lines, found, strict=True)]
        ends = [abs(one[key]) for one in found for key in ENDS if one[key] is not None]
        # On a logarithmic axis, with 1 in the middle and a mark at each root of its end.
        end = next((end for end in AXES if math.log(end) >= max(ends, default=0.0)), AXES[-1])
        ticks = [self.words.number(end ** (part / 2), 0 if part >= 0 else 2) for part in range(-2, 3)]
        if not lines:
            return []
        headings = [self.words.translate(f"models_{key}") for key in ("term", "odds_ratio")]
        headings.append(interval_heading(self.words, document))
        sentences = [self._odds_in_words(document, one) for one in self._alone(document) if one["estimate"] is not None]
        forest = bars(drawn, -math.log(end), math.log(end))
        return [ShownTable(self.words.translate("models_odds"), headings, lines, forest, sentences, ticks=ticks)]

    def _odds_in_words(self, document: Document, one: Document) -> str:
        ratio, limits = self._ratio(one)
        known = {"term": self.names.term(one["term"]), "ratio": ratio, "limits": limits}
        if document["model"] == "ordered":
            return self.words.translate("models_odds_ordered", outcome=self.names.label(document["outcome"]), **known)
        return self.words.translate("models_odds_words", outcome=self._explained(document, one), **known)

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
        lines = [
            (self._name(document, one), *self._figures(one, self.write.figure)) for one in document["coefficients"]
        ]
        sentences = [*self._among(document), self.words.translate(f"models_errors_{document['std_error_kind']}")]
        sentences += self._tests(document)
        return ShownTable(title, self._headings(document, "models_estimate"), lines, sentences=sentences, folded=folded)

    def _among(self, document: Document) -> Iterator[str]:
        """Yield the people whom a model describes, where they are not all."""
        if "people" in document:
            yield self.words.translate(
                "note_as_sentence", note=self.words.translate(f"joint_among_{document['people']}")
            )

    def _tests(self, document: Document) -> Iterator[str]:
        for test in document["tests"]:
            figures = {"statistic": self.write.figure(test["statistic"]), "df": self.words.number(test["df"])}
            predictor = self.names.label(test["predictor"])
            yield self.words.translate("models_test", predictor=predictor, p=self.write.p_equals(test["p"]), **figures)
        common = document.get("declining_test")
        if common is not None:
            figures = {"statistic": self.write.figure(common["statistic"]), "df": self.words.number(common["df"])}
            yield self.words.translate("models_declining_test", p=self.write.p_equals(common["p"]), **figures)
        if document["deff"] != 1:
            yield self.words.translate("joint_deff", factor=self.words.number(document["deff"], 2))

    def _effects(self, document: Document) -> ShownTable:
        named = [(self._effect(document, one), one) for one in document["ame"]]
        is_linear = document["model"] not in OF_ODDS
        show, words = (self.write.figure, "models_ame_linear") if is_linear else (self.write.points, "models_ame_words")
        drawn = [self._to_draw(name, one, show) for name, one in named]
        lines = [(name, *self._figures(one, show)) for name, one in named]
        title, explanation = self.words.translate("models_ame"), self.words.translate(words)
        return ShownTable(title, self._headings(document, "joint_difference"), lines, bars(drawn), [explanation])

    def _effect(self, document: Document, one: Document) -> str:
        key, variable = "difference" if "base" in one else "derivative", one["term"].partition("=")[0]
        base = self.names.term(f"{variable}={one.get('base')}")
        return self.words.translate(f"models_effect_{key}", term=self._name(document, one), base=base)

    def _predictions(self, document: Document) -> ShownTable:
        show = self.write.figure if document["model"] == "linear" else self.write.percent
        drawn = [self._to_draw(self._where(document, one), one, show) for one in document["predictions"]]
        lines = [(each.name, each.value, each.limits) for each in drawn]
        headings = [self.words.translate(key) for key in ("models_where", "models_estimate")]
        headings.append(interval_heading(self.words, document))
        ends = (None, None) if document["model"] == "linear" else (0.0, 1.0)
        return ShownTable(self.words.translate("models_predictions"), headings, lines, bars(drawn, *ends))

    def _detectable(self, document: Document) -> ShownTable:
        """Format the smallest effects that these reports find, as odds ratios in a model of odds."""
        of_odds = document["model"] in OF_ODDS
        lines = [
            (
                self._name(document, one),
                self.write.point(_exp(one["smallest"]) if of_odds else one["smallest"], self.write.figure),
                *([self.words.number(one["people"])] if of_odds else []),
            )
            for one in document["detectable"]
        ]
        keys = ["models_term", *(("models_odds_ratio", "models_people") if of_odds else ("models_estimate",))]
        headings = [self.words.translate(key) for key in keys]
        sentences = [self.words.translate("models_detectable_words")]
        return ShownTable(self.words.translate("models_detectable"), headings, lines, sentences=sentences, folded=True)

    def _where(self, document: Document, one: Document) -> str:
        at = joined(self.names.term(f"{name}={value}") for name, value in one["at"].items())
        category = one.get("category")
        return f"{at}: {self.names.category(document['outcome'], category)}" if category else at

    def _paper(self, document: Document) -> str:
        """Write the text for a paper, about the terms of the first predictor, in as many words as it may have."""
        found = [one for one in self._alone(document) if one["estimate"] is not None]
        predictor, text = next((one["term"].partition("=")[0] for one in found), ""), ""
        for one in found:
            sentence = self._paper_of(document, one) if one["term"].partition("=")[0] == predictor else ""
            if not text or len(f"{text} {sentence}".split()) <= MOST_WORDS:
                text = f"{text} {sentence}".strip()
        return text

    def _paper_of(self, document: Document, one: Document) -> str:
        """Write a sentence on one term, which claims an association only where the interval is on one side."""
        known = {"term": self.names.term(one["term"]), "n": document["n"], "confidence": level_of(self.words, document)}
        key, measure, outcome = "models_paper_linear", "models_estimate", self.names.label(document["outcome"])
        figure = self.write.with_limits(one, "estimate", self.write.figure)
        if document["model"] in OF_ODDS:
            ratio, limits = self._ratio(one)
            figure = self.words.translate("joint_with_limits", figure=ratio, limits=limits)
            key, measure, outcome = "models_paper_odds", "models_odds_ratio", self._explained(document, one)
        if one["low"] is None or one["high"] is None or one["low"] <= 0 <= one["high"]:
            key, known["measure"] = "models_paper_unclear", self.words.translate(measure)
        if key != "models_paper_linear":
            known["model"] = self.words.translate(f"models_{document['model']}")
        return self.words.translate(key, outcome=outcome, figure=figure, **known)

    def _slopes(self, document: Document) -> Sequence[Document]:
        """Return the coefficients of the chosen predictors, without constant, strata and cut points."""
        own = [one for one in document["coefficients"] if "|" not in one["term"] and not one["term"].startswith("(")]
        return [one for one in own if self.names.variables_in(one["term"])]

    def _alone(self, document: Document) -> Sequence[Document]:
        """Return the coefficients of variables that no other term has, which alone describe what a variable changes."""
        factors = {one["term"]: _without_categories(one["term"]) for one in self._slopes(document)}
        used = Counter(name for term in {*factors.values()} for name in self.names.variables_in(term))
        return [
            one
            for one in self._slopes(document)
            if self.names.is_variable(factors[one["term"]]) and used[factors[one["term"]]] == 1
        ]

    def _name(self, document: Document, one: Document) -> str:
        term = self._term(document, one["term"])
        category = one.get("category")
        return f"{self.names.category(document['outcome'], category)}: {term}" if category else term

    def _term(self, document: Document, term: str) -> str:
        if term == CONSTANT:
            return self.words.translate("models_constant")
        lower, is_cut, upper = term.partition("|")
        if is_cut:
            return (
                f"{self.names.category(document['outcome'], lower)} | {self.names.category(document['outcome'], upper)}"
            )
        return self.names.term(term)

    def _figures(self, one: Document, show: Show) -> tuple[str, str, str]:
        error = self.write.point(one["std_error"], self.write.following(one, show))
        return self.write.estimate(one, show), error, self.write.limits(one, show)

    def _headings(self, document: Document, estimate: str) -> list[str]:
        known = [self.words.translate(key) for key in ("models_term", estimate, "models_std_error")]
        return [*known, interval_heading(self.words, document)]

    def _to_draw(self, name: str, one: Document, show: Show) -> ToDraw:
        value, limits = self.write.estimate(one, show), self.write.limits(one, show)
        return ToDraw(name, value, limits, one["estimate"], one["low"], one["high"])


def _without_categories(term: str) -> str:
    return ":".join(factor.partition("=")[0] for factor in term.split(":"))


def _exp(value: float | None) -> float | None:
    return None if value is None or abs(value) > LARGEST_EXPONENT else math.exp(value)
