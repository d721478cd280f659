"""Label questions, options, groups and variables, and numbers of people, on the result pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor

from sottovoce.aggregator.analysis.availability import LISTED, few_among
from sottovoce.aggregator.analysis.diagnostics import CountWarning
from sottovoce.aggregator.analysis.estimates import CohortGroup, SurveyResults
from sottovoce.aggregator.analysis.results_document import Population
from sottovoce.aggregator.analysis.variable_names import VariableNames
from sottovoce.aggregator.analysis.weights import CROSS_SEPARATOR
from sottovoce.aggregator.analysis.worked_example import limits
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.estimators.question_variables import bare, variables_of
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.shared.answers import ABSENT
from sottovoce.shared.spec import Question, Survey


def labels_of(survey: Survey, question: Question, words: Words) -> dict[str, str]:
    """Map each option of a question to its label in the reader's language."""
    named = {choice.name: words.text(choice.label, survey.default_language) for choice in question.choices}
    keys = {"yes": "answer_yes", "no": "answer_no", "mean": "results_mean", "absent": "results_no_answer"}
    return {option: words.translate(key) for option, key in keys.items()} | named


def title_of(survey: Survey, question: Question, words: Words) -> str:
    """Return the question's text; if others have the same text, its arms or its name follow in parentheses.

    Readers of a screen reader can then distinguish them too.
    """
    texts = {each.name: words.text(each.label, survey.default_language) for each in survey.questions}
    own = texts[question.name]
    arms = [item.arms for item in survey.items for each in item.questions if texts[each.name] == own]
    if len(arms) < 2:
        return own
    told = next(item.arms for item in survey.items if question in item.questions)
    return f"{own} ({LISTED.join(told) if all(arms) and len({*arms}) == len(arms) else question.name})"


def name_of_group(survey: Survey, group: CohortGroup, words: Words) -> str:
    """Return the labels of the options in a group of cohorts, joined by commas."""
    if survey.cohort is None:
        return group.name
    labels = labels_of(survey, survey.questions[survey.cohort], words)
    return ", ".join(labels.get(option, option) for option in group.options)


def people_in_words(estimate: Estimate, group: Population, words: Words) -> str:
    """Express an estimated share as a number of people of a finite population.

    If every member of a known group has answered, the interval counts those people exactly; otherwise the share is
    scaled to the group's size.
    """
    exact = group.count(estimate)
    if exact is not None:
        return words.translate("results_class", count=exact.people, of=exact.of, low=exact.low, high=exact.high)
    if estimate.clipped is None:
        return ""
    # Round outwards: the interval in people must not be narrower than the interval of the share.
    of, shares = group.of, limits(estimate, group.refused == "open")
    low, high = floor(shares[0] * of), ceil(shares[1] * of)
    return words.translate("results_count", count=round(estimate.clipped * of), of=of, low=low, high=high)


def alarm_in_words(alarm: CountWarning, results: SurveyResults, invited: int | None, words: Words) -> str:
    """Describe a warning about the counts, and what to do; ``invited`` is the group's size, None if unknown."""
    key = f"results_alarm_{alarm.kind}"
    if alarm.question is not None:
        return words.translate(key, question=title_of(results.survey, alarm.question, words))
    if alarm.kind == "more":
        wave, reports = results.fullest
        told = words.translate(key, reports=reports, invited=invited or 0)
        return told if len(results.waves) < 2 else f"{words.translate('wave_number', number=wave)}: {told}"
    return words.translate(key)


_OTHER_SENTENCES = frozenset({"points", "shares"})
"""Options that no form names: their names are keys of other sentences."""

PRODUCT = " × "
"""Between the factors of an interaction."""


@dataclass(frozen=True)
class SurveyVariable:
    """Variable of the survey, as analyses use it.

    Attributes:
        question: the question it belongs to.
        part: name of the option or coordinate; "" for a whole question.
        categories: name and label of each category; empty for a number.
        only_outcome: it can be an outcome but not a predictor.
    """

    name: str
    label: str
    question: Question
    part: str
    categories: tuple[tuple[str, str], ...]
    only_outcome: bool

    @cached_property
    def public(self) -> bool:
        """True if devices send the answers without randomization."""
        return self.question.mechanism is None

    @property
    def is_item(self) -> bool:
        """True if there are two answers, as of a yes/no question or an option of a multiple choice."""
        return len(self.categories) == 2


@dataclass(frozen=True)
class SurveyVariables(VariableNames):
    """All variables of a survey, of its newest revision, in a reader's language."""

    survey: Survey
    words: Words

    @cached_property
    def all(self) -> Sequence[SurveyVariable]:
        """All variables, in the order of the survey."""
        return [variable for question in self.survey.questions for variable in self._of(question)]

    @cached_property
    def _by_name(self) -> dict[str, SurveyVariable]:
        return {variable.name: variable for variable in self.all}

    @cached_property
    def may_decline(self) -> bool:
        """True if some people may not have answered a question, or were not asked it."""
        return any(each.domain.absent or each.name in self.survey.conditional for each in self.survey.questions)

    @cached_property
    def designed(self) -> list[SurveyVariable]:
        """The first question of each design of the survey's plan."""
        return [each for each in self.all if each.name in self.survey.designed]

    def find(self, name: str) -> SurveyVariable | None:
        """Return the variable with this name; None if there is none."""
        return self._by_name.get(bare(name))

    def answers(self, name: str) -> list[str]:
        """Return the names of a variable's categories, without no answer."""
        found = self.find(name)
        return [category for category, _ in found.categories if category != ABSENT] if found else []

    def is_variable(self, name: str) -> bool:
        """Return True if the survey has a variable of this name."""
        return self.find(name) is not None

    def label(self, name: str) -> str:
        """Return the label of a variable; a combined name gets the labels of all its parts."""
        found = [self._by_name.get(each) for each in name.split(CROSS_SEPARATOR)]
        return CROSS_SEPARATOR.join(each.label for each in found if each) if all(found) else name

    def text(self, name: str) -> str:
        """Return the text of a variable, without what a label adds where two questions have the same."""
        found = self._by_name.get(name)
        if found is None or found.part:
            return self.label(name)
        return self.words.text(found.question.label, self.survey.default_language)

    def category(self, name: str, category: str) -> str:
        """Return the label of a category, of rare answers counted together, or of each arm that is."""
        found = self._by_name.get(name)
        known = dict(found.categories) if found else {}
        labels = ({few_among([*known]): self.words.translate("joint_few")} if found and found.public else {}) | known
        return labels.get(category) or LISTED.join(labels.get(each, each) for each in category.split(LISTED))

    def term(self, term: str) -> str:
        """Return the label of a model term: products of ``variable`` and ``variable=category``, joined with colons."""
        return PRODUCT.join(map(self._factor, term.split(":")))

    def _factor(self, term: str) -> str:
        name, is_category, category = term.partition("=")
        if bare(name) != name and bare(name) in self._by_name:
            return self.words.translate("models_per_point", scale=self.label(bare(name)))
        if name not in self._by_name:
            return term
        return f"{self.label(name)} = {self.category(name, category)}" if is_category else self.label(name)

    def explain_refusal(self, option: str, english: str, page: str) -> str:
        """Explain why an analysis is refused.

        Args:
            option: the option at fault; "" if the reason concerns the whole analysis.
            page: prefix of the page's catalogue keys, where the labels of its fields are looked up first.
        """
        keys = (f"{each}_{option}" for each in (page, "joint", "tables", "models"))
        known = next((key for key in keys if option not in _OTHER_SENTENCES and self.words.knows(key)), None)
        if known is None:
            return self.note(english)
        of_field = {"field": self.words.translate(known), "told": self.translate_note(english)}
        return self.words.translate("note_as_sentence", note=self.words.translate("note_of_field", **of_field))

    def _of(self, question: Question) -> list[SurveyVariable]:
        own = title_of(self.survey, question, self.words)
        labels = labels_of(self.survey, question, self.words)
        yes_no = {"yes": self.words.translate("answer_yes"), "no": self.words.translate("answer_no")}
        made = []
        for each in variables_of(question):
            # Each option of a multiple choice is a variable of its own, with the categories yes and no.
            known = yes_no if each.name else labels
            label = f"{own} {labels.get(each.name, each.name)}" if each.name else own
            categories = tuple((name, known.get(name, name)) for name in each.categories)
            made.append(SurveyVariable(each.full_name, label, question, each.name, categories, bool(each.only_outcome)))
        return made
