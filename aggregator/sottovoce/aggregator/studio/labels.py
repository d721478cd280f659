"""Names of questions, options, groups and variables, and numbers of people, as the pages of results tell them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor

from sottovoce.aggregator.analysis.diagnostics import CountWarning
from sottovoce.aggregator.analysis.estimates import CohortGroup, SurveyResults
from sottovoce.aggregator.analysis.finite_population import Population
from sottovoce.aggregator.analysis.weights import BESIDE
from sottovoce.aggregator.analysis.worked_example import limits
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.export.labels import option_labels
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.shared.spec import Question, Survey


def labels_of(survey: Survey, question: Question, words: Words) -> dict[str, str]:
    """
    What each option of a question is called.

    Args:
        survey: for its own language.
        question: one of its questions.
        words: the reader's language.
    """
    named = {choice.name: words.text(choice.label, survey.default_language) for choice in question.choices}
    said = {"yes": "results_yes", "no": "results_no", "mean": "results_mean", "absent": "results_no_answer"}
    return {option: words.say(key) for option, key in said.items()} | named


def title_of(survey: Survey, question: Question, words: Words) -> str:
    """
    The question's text; of two with the same text, each with its name, so that they are told apart by ear too.

    Args:
        survey: whose question it is.
        question: one of its questions.
        words: the reader's language.
    """
    texts = [words.text(each.label, survey.default_language) for each in survey.questions]
    own = words.text(question.label, survey.default_language)
    return f"{own} ({question.name})" if texts.count(own) > 1 else own


def name_of_group(survey: Survey, group: CohortGroup, words: Words) -> str:
    """
    The names of the options of a group of cohorts.

    Args:
        survey: whose cohorts they are.
        group: of them.
        words: the reader's language.
    """
    if survey.cohort is None:
        return group.name
    labels = labels_of(survey, survey.questions[survey.cohort], words)
    return ", ".join(labels.get(option, option) for option in group.options)


def people_in_words(estimate: Estimate, group: Population, words: Words) -> str:
    """
    A share as a number of people: exactly of these, where all have answered, else of the whole group.

    Args:
        estimate: of a share.
        group: the people.
        words: the reader's language.
    """
    exact = group.count(estimate)
    if exact is not None:
        return words.say("results_class", count=exact.people, of=exact.of, low=exact.low, high=exact.high)
    if estimate.clipped is None:
        return ""
    # The group's limits must not be narrower than the share's.
    of, shares = group.of, limits(estimate, group.refused == "open")
    low, high = floor(shares[0] * of), ceil(shares[1] * of)
    return words.say("results_count", count=round(estimate.clipped * of), of=of, low=low, high=high)


def alarm_in_words(alarm: CountWarning, results: SurveyResults, invited: int | None, words: Words) -> str:
    """
    What looks wrong, and what to do.

    Args:
        alarm: one of the alarms.
        results: what is shown.
        invited: people in the group.
        words: the reader's language.
    """
    key = f"results_alarm_{alarm.kind}"
    if alarm.question is not None:
        return words.say(key, question=title_of(results.survey, alarm.question, words))
    if alarm.kind == "more":
        return words.say(key, reports=results.received, invited=invited or 0)
    return words.say(key)


_FIELDS = frozenset(
    {"rows", "columns", "within", "outcome", "groups", "category", "on", "model", "cluster", "wave", "margins"}
)
"""Options of analyses that are chosen on pages."""

_VARIABLES = frozenset({"variable", "other", "variables"})
_TERMS = frozenset({"term", "terms"})
_SENTENCES = frozenset({"note", "reason", "limits"})
"""What stands in the places of a ``Sentence``."""


@dataclass(frozen=True)
class SurveyVariable:
    """
    One variable.

    Attributes:
        name: by which analyses ask for it.
        label: for people.
        question: the question that it belongs to.
        categories: name and label of each; none of a number.
        only_outcome: it can be explained, and explain nothing.
    """

    name: str
    label: str
    question: Question
    categories: tuple[tuple[str, str], ...]
    only_outcome: bool

    @property
    def public(self) -> bool:
        """Its answers are sent as they are."""
        return self.question.mechanism is None

    @property
    def part(self) -> str:
        """The option's or coordinate's name; "" for a whole question."""
        return self.name.partition(".")[2]


@dataclass(frozen=True)
class SurveyVariables:
    """
    All variables of a survey, in a reader's language.

    Attributes:
        survey: its newest revision.
        words: the language.
    """

    survey: Survey
    words: Words

    @cached_property
    def all(self) -> Sequence[SurveyVariable]:
        """In the survey's order."""
        return [variable for question in self.survey.questions for variable in self._of(question)]

    @cached_property
    def _by_name(self) -> dict[str, SurveyVariable]:
        return {variable.name: variable for variable in self.all}

    def find(self, name: str) -> SurveyVariable | None:
        """The variable of this name."""
        return self._by_name.get(name)

    def label(self, name: str) -> str:
        """What people read for a variable's name; of several together, each."""
        found = [self._by_name.get(each) for each in name.split(BESIDE)]
        return BESIDE.join(each.label for each in found if each) if all(found) else name

    def category(self, name: str, category: str) -> str:
        """What people read for a category of a variable; groups made one by the analysis keep their name."""
        found = self._by_name.get(name)
        return dict(found.categories).get(category, category) if found else category

    def term(self, term: str) -> str:
        """What people read for a term of a model, ``variable`` or ``variable=category``."""
        name, is_category, category = term.partition("=")
        if name not in self._by_name:
            return term
        return f"{self.label(name)} = {self.category(name, category)}" if is_category else self.label(name)

    def note(self, english: str, **of: str) -> str:
        """
        What an analysis says, as a sentence with the labels of the survey in the place of names.

        Args:
            english: as it says it.
            of: the variables whose categories stand in the places ``row``, ``column`` and ``group``.
        """
        told = self.said(english, **of)
        return self.words.say("note_as_sentence", note=told[:1].upper() + told[1:])

    def refused(self, option: str, english: str, room: str) -> str:
        """
        Why an analysis cannot be made.

        Args:
            option: of the analysis, that this is about; "" if it is about all of it.
            english: the reason, as the analysis says it.
            room: of the page's sentences, where its fields have their labels.
        """
        keys = (f"{each}_{option}" for each in (room, "joint", "tables", "models"))
        known = next((key for key in keys if option in _FIELDS and self.words.knows(key)), None)
        if known is None:
            return self.note(english)
        told = self.words.say("note_of_field", field=self.words.say(known), told=self.said(english))
        return self.words.say("note_as_sentence", note=told)

    def said(self, english: str, **of: str) -> str:
        """The same as a part of a sentence."""
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
            return self.said(given, **{key: name for key, name in of.items() if key not in ("category", "categories")})
        return self.category(of.get(place, ""), given)

    def _of(self, question: Question) -> list[SurveyVariable]:
        own = title_of(self.survey, question, self.words)
        labels = self._labels(question)
        made = []
        for each in variables_of(question):
            # The categories of one option of several are whether it was chosen.
            known = labels if not each.name else {"yes": self.words.say("joint_yes"), "no": self.words.say("joint_no")}
            label = f"{own} {labels.get(each.name, each.name)}" if each.name else own
            categories = tuple((name, known.get(name, name)) for name in each.categories)
            made.append(SurveyVariable(each.full_name, label, question, categories, bool(each.only_outcome)))
        return made

    def _labels(self, question: Question) -> dict[str, str]:
        labels = dict(zip(question.options, option_labels(question, self.words.language), strict=True))
        named = {choice.name for choice in question.choices}
        own = {"yes": "joint_yes", "no": "joint_no", "absent": "joint_absent"}
        return labels | {name: self.words.say(key) for name, key in own.items() if name in labels and name not in named}
