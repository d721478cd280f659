"""Compute privacy cost and precision of a draft: epsilon for respondents, margins of error for researchers.

Questions of a draft's cards are parsed one by one, or one block at a time.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

from sottovoce.aggregator.authoring.draft import DraftItem, DraftSample, SurveyDraft, arms_of, is_in
from sottovoce.aggregator.authoring.sensitivity_levels import uses_of
from sottovoce.aggregator.authoring.to_survey import complete_questions, survey_document
from sottovoce.aggregator.planning.block_choice import cell_half_width
from sottovoce.aggregator.planning.question_channels import ShareChannel, drawn_from, measure_of
from sottovoce.aggregator.planning.sample_size import reports_for, widest_margin
from sottovoce.shared import canonical
from sottovoce.shared.accounting import percent_after, report_epsilon, waves_epsilon
from sottovoce.shared.arms.arms import ARM, asked_of, share_asked
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Question
from sottovoce.shared.survey_keys import WITHOUT_EFFECT
from sottovoce.shared.types import TYPES

_POINT = 0.01

_TEXT = {"en": "–"}


def question_of(draft: SurveyDraft, card: DraftItem) -> Question | None:
    """Return the question of a card, or the first row of a matrix; None for a note and for an incomplete card."""
    if card.type not in (*TYPES, "matrix"):
        return None
    together = [each for each in draft.cards if card.block and each.block == card.block] or [card]
    # Without texts and conditions, which affect no figure: editing a text does not recompute the mechanism.
    with_effect = [{key: each.asked[key] for key in each.asked if key not in WITHOUT_EFFECT} for each in together]
    alone = SurveyDraft(
        {"title": _TEXT, "revision": 1},
        tuple(
            replace(each, asked={**_neutral(asked), "name": f"q{place}", "label": _TEXT})
            for place, (each, asked) in enumerate(zip(together, with_effect, strict=True))
        ),
        tags=("en",),
        declining=draft.declining,
        blocks={each.block: draft.blocks[each.block] for each in together if each.block},
    )
    questions = complete_questions(canonical.dump(survey_document(alone, "q")))
    place = next((place for place, each in enumerate(together) if each is card), len(together))
    before = sum(each.row_count for each in together[:place])
    return questions[before] if before < len(questions) else None


def _neutral(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return a question's document whose lists have the same lengths and neutral names.

    ``when_absent`` names an option, whose name is gone, and affects no figure either; of a scale whose ``ends`` make
    none the former ones hold.
    """
    found = {key: value for key, value in asked.items() if key not in ("when_absent", "ends")}
    for key in ("choices", "coordinates", "rows"):
        if key in found:
            found[key] = [{"name": f"o{place}", "label": _TEXT} for place in range(len(found[key]))]
    if isinstance(found.get("of"), dict):
        found["of"] = _neutral(found["of"])
    return found


@dataclass(frozen=True)
class Step:
    """Sensitivity level, applied to one question.

    Attributes:
        harm: key of the level in ``HARMS``.
        reported_of_100: people who report the answer, of 100 for whom it is true and of 100 for whom it is not; None
            for a question with one of several answers, and for one whose estimate is not a share.
        guessed_of_100: for a question with one of several answers, people of 100 whose answer the best guess from
            their report finds, and whose answer a guess without it finds; None for other questions.
        after: largest posterior belief after the report in per cent, for a prior belief of 10 %.
    """

    harm: str
    epsilon: float
    reported_of_100: tuple[int, int] | None
    guessed_of_100: tuple[int, int] | None
    after: int


@dataclass(frozen=True)
class Figures:
    """Cost and precision of one question.

    Attributes:
        number: the margins are those of a mean in the question's unit; else those of a share.
        margin: widest half-width of an interval with the expected number of people; None if that number is unknown.
        openly: the same margin for a direct question without noise.
        wanted: margin for which ``needed`` is computed.
        needed: people needed for the wanted margin; None if no number of people reaches it.
        declining: additional people needed if "prefer not to say" is an answer of its own; None if it costs none, or
            if either number is out of reach.
    """

    question: Question
    number: bool
    margin: float | None
    openly: float | None
    wanted: float
    needed: int | None
    declining: int | None


@dataclass(frozen=True)
class Totals:
    """Cost and precision of the whole draft.

    Attributes:
        epsilon: largest epsilon of a report.
        private: number of randomized answers.
        asked: number of private questions that each person is asked.
        pairs: share of reports with a given pair of private questions; None with fewer than two.
        after: the same after the whole report, see ``Step``.
        margin: widest margin of a share with the expected number of people; None without shares or without that number.
        difference: the same for the difference between two equal groups.
        cell: the same for a cell of 10 % in a table of two questions, at least one of them private; None if no report
            has both, or the number of people is unknown.
        goals: for each planned analysis that the researcher chose, the card number and the figures of the private
            question that needs most people.
    """

    epsilon: float
    private: int
    asked: int
    pairs: float | None
    after: int
    margin: float | None
    difference: float | None
    cell: float | None
    goals: Sequence[tuple[int, Figures]]


def steps_of(draft: SurveyDraft, card: DraftItem) -> Sequence[Step]:
    """Return each private sensitivity level applied to a card, and its own mechanism.

    There are none for an incomplete card, none in a block, which has one mechanism for all its cards, and none where a
    fact of the person's own hides the answer.
    """
    if card.block or "procedure" in card.treated:
        return []
    found = []
    for harm in ("little", "clearly", "badly", *(("other",) if card.harm == "other" else ())):
        question = question_of(draft, replace(card, harm=harm))
        if question is not None:
            measure = measure_of(question)
            reported = guessed = None
            if isinstance(measure, ShareChannel) and question.kind.truth == "option":
                # Levels have different mechanisms, which send one answer or a set of them; so the number of people who
                # send their own answer grows with the set, and a stronger protection would look franker. A guess picks
                # one of the set.
                options = len(question.domain.options)
                own = measure.a / (measure.a + (options - 1) * measure.b)
                guessed = _round_of_100(own), _round_of_100(1 / options)
            elif isinstance(measure, ShareChannel):
                reported = _round_of_100(measure.a), _round_of_100(measure.b)
            found.append(Step(harm, question.epsilon, reported, guessed, percent_after(question.epsilon)))
    return found


def _round_of_100(share: float) -> int:
    """Round half up, like the respondents' form; ``round`` rounds half to even."""
    return math.floor(100 * share + 0.5)


def figures_of(draft: SurveyDraft, card: DraftItem) -> Figures | None:
    """Return cost and precision of a card; None for a note and for an incomplete card."""
    question = question_of(draft, card)
    if question is None:
        return None
    sample = DraftSample(draft)
    # The share of people who are asked the card: by their arm and, if it is private, by ``ask``.
    asked = float(share_asked(sample, sample.rows.index(card))) or 1.0
    share = asked if question.mechanism is None else asked / question.mechanism.drawn_from
    measure, people = measure_of(question), draft.people
    openly = None if people is None else widest_margin(measure.openly, people * asked)
    # 3 percentage points for a share, 1/30 of the range for a number and its ``blur``, the part of the margin that more
    # reports do not reduce.
    wanted = 3 * _POINT if isinstance(measure, ShareChannel) else (measure.high - measure.low) / 30 + measure.blur
    needed: dict[str, int | None] = {}
    for way in {"own", "never", draft.declining}:
        found = question if way == draft.declining else question_of(replace(draft, declining=way), card)
        reports = None if found is None else reports_for(measure_of(found), wanted)
        needed[way] = None if reports is None else math.ceil(reports / share)
    with_own, without = needed["own"], needed["never"]
    return Figures(
        question=question,
        number=question.domain.grid is not None,
        margin=None if people is None else widest_margin(measure, people * share),
        openly=openly,
        wanted=wanted,
        needed=needed[draft.declining],
        declining=None if with_own is None or without is None else max(with_own - without, 0) or None,
    )


class DraftFigures:
    """Cost and precision of one draft, complete or not, computed once for its problems, its totals and its page.

    Attributes:
        of_items: of each item; None for a note and for an incomplete question.
        questions: question of each item, or None.
        totals: of the whole draft, from its complete questions.
    """

    def __init__(self, draft: SurveyDraft) -> None:
        self.draft = draft
        self.of_items = [figures_of(draft, item) for item in draft.cards]
        self.questions = [found.question if found else None for found in self.of_items]
        known = [(card, found) for card, found in zip(draft.cards, self.of_items, strict=True) if found is not None]
        costs = [(card, figures.question.epsilon) for card, figures in known]
        sample = DraftSample(draft)
        private, asked = len(sample.units), asked_of(sample, sample.units)
        in_arms = [[each for each in costs if is_in(each[0], arm)] for arm in arms_of(draft)] or [costs]
        units = [unit_epsilons(each) for each in in_arms]
        epsilon = max(report_epsilon(each, min(asked, len(each))) if each else 0.0 for each in units)
        margins = [figures.margin for _, figures in known if not figures.number and figures.margin is not None]
        margin = max(margins, default=None)
        hardest: dict[str, tuple[int, Figures]] = {}
        people: dict[str, float] = {}
        for number, (card, found) in enumerate(zip(draft.cards, self.of_items, strict=True)):
            if found is not None and found.question.epsilon:
                goal, needed = goal_of(card), math.inf if found.needed is None else found.needed
                if needed > people.get(goal, -1):
                    people[goal], hardest[goal] = needed, (number, found)
        self.totals = Totals(
            epsilon=epsilon,
            private=private,
            asked=asked,
            pairs=asked * (asked - 1) / (private * (private - 1)) if private > 1 else None,
            after=percent_after(epsilon),
            margin=margin,
            # Two groups of half the people each: either has twice the variance, and the difference has both.
            difference=None if margin is None else min(2 * margin, 1.0),
            cell=None if draft.people is None else _widest_cell(draft, draft.people, known),
            goals=list(hardest.values()),
        )


def unit_epsilons(cards: Sequence[tuple[DraftItem, float]]) -> list[float]:
    """Return the epsilon of each private answer, and of each block once; a public question's epsilon is 0."""
    alone = [epsilon for card, epsilon in cards if epsilon and not card.block for _ in range(card.row_count)]
    return [*alone, *{card.block: epsilon for card, epsilon in cards if card.block}.values()]


def goal_of(card: DraftItem) -> str:
    """Return the planned analysis of a card as a key: ``share``, or the kind of answer and the chosen use."""
    uses = uses_of(card.kind)
    return f"{card.kind.truth}_{card.use or uses[0]}" if card.kind and uses else "share"


def _widest_cell(draft: SurveyDraft, people: int, known: Sequence[tuple[DraftItem, Figures]]) -> float | None:
    """Return the widest margin of a cell among all tables of two questions, at least one of them private."""
    # Questions of the same arms, domain and mechanism have the same margins, so that one pair stands for all of them.
    kinds: dict[object, list[tuple[int, Question]]] = {}
    sample = DraftSample(draft)
    questions = {id(card): found.question for card, found in known}
    for place, card in enumerate(sample.rows):
        if question := questions.get(id(card)):
            kind = str(card.asked.get(ARM)), question.domain, question.mechanism
            kinds.setdefault(kind, []).append((place, question))
    pairs = [(one[0], other[-1]) for one, other in product(kinds.values(), repeat=2) if one is not other or one[1:]]
    widths = [_cell(sample, people, *pair) for pair in pairs]
    return max((width for width in widths if width is not None), default=None)


def _cell(sample: DraftSample, people: int, one: tuple[int, Question], other: tuple[int, Question]) -> float | None:
    (first, row), (second, column) = one, other
    # Two public questions have a table without noise from randomization.
    if row.mechanism is None and column.mechanism is None:
        return None
    reports = people * float(share_asked(sample, first, second)) / (drawn_from(row) * drawn_from(column))
    return min(width, 1.0) if reports and (width := cell_half_width(row, column, reports)) is not None else None


class Panel(NamedTuple):
    """Privacy cost of all waves together: their number, and the epsilon of all reports of one person."""

    waves: int
    epsilon: float


def panel_of(draft: SurveyDraft, name: str) -> Panel | None:
    """Return the panel of a draft; None if it has one wave, costs nothing, or is not yet a valid survey."""
    if len(draft.waves) < 2:
        return None
    try:
        survey = parse_survey(survey_document(draft, name))
    except SpecError:
        return None
    waves = len(survey.waves)
    epsilon = survey.epsilon_of_memo + waves_epsilon(survey.epsilon_of_wave, waves) if survey.private else 0.0
    return Panel(waves, epsilon) if epsilon else None
