"""What a draft costs whoever answers, and what it gives whoever asks: recomputed with every save."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, NamedTuple

from sottovoce.aggregator.authoring.draft import DraftItem, SurveyDraft
from sottovoce.aggregator.authoring.to_survey import private_questions, survey_document
from sottovoce.aggregator.planning.estimand import Measure
from sottovoce.aggregator.planning.margin_of_error import reports_for, widest_margin
from sottovoce.aggregator.planning.pair_power import cell_half_width
from sottovoce.aggregator.planning.question_channels import drawn_from, is_number, measure_of
from sottovoce.aggregator.planning.share_channel import ShareChannel
from sottovoce.shared import canonical
from sottovoce.shared.accounting import BELIEF_BEFORE, belief_after, report_epsilon, waves_epsilon
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Question
from sottovoce.shared.types import TYPES

_POINT = 0.01


@dataclass(frozen=True)
class Step:
    """
    One step of harm, as one question would have it.

    Attributes:
        harm: its word.
        epsilon: of the question.
        told: of 100 of whom the answer is true, and of 100 of whom it is not, how many send it; None of a number.
        after: what somebody who thought it 10 % likely thinks after this answer at most.
    """

    harm: str
    epsilon: float
    told: tuple[int, int] | None
    after: float


@dataclass(frozen=True)
class Figures:
    """
    Of one question.

    Attributes:
        question: as the draft has it.
        epsilon: of its report; 0 of a public one.
        number: it is a mean, in the question's own unit; else a share.
        margin: widest half-width with the people that are expected; None if that is not known.
        openly: the same, if it were asked openly.
        wanted: the margin that ``needed`` is for.
        needed: people; None if that is out of reach.
        declining: people more that the same margin needs where declining is an answer of its own than where it is none;
            None where the question cannot have such an answer, or one of the two is out of reach.
    """

    question: Question
    epsilon: float
    number: bool
    margin: float | None
    openly: float | None
    wanted: float
    needed: int | None
    declining: int | None


@dataclass(frozen=True)
class Totals:
    """
    Of the whole draft.

    Attributes:
        epsilon: of a report at worst.
        private: how many answers go through dice.
        asked: how many of them each person is asked.
        pairs: the share of reports that hold a given pair of them; None with fewer than two.
        after: what somebody who thought a thing 10 % likely thinks after the whole report at most.
        margin: the widest of a share, with the people that are expected; None without shares or people.
        difference: the same, of a difference between two equal groups.
        cell: the same, of a cell of 10 of 100 in a table of two questions, one of them private; None if no report tells
            of two, or people are not known.
        needed: the most people that any question needs; None if one is out of reach, or there is none.
    """

    epsilon: float
    private: int
    asked: int
    pairs: float | None
    after: float
    margin: float | None
    difference: float | None
    cell: float | None
    needed: int | None


def question_of(draft: SurveyDraft, card: DraftItem) -> Question | None:
    """The question of a card, of a matrix its first row; None for a note, and while the card is not complete."""
    if card.type not in (*TYPES, "matrix"):
        return None
    return _question(_alone(draft, card))


def _alone(draft: SurveyDraft, card: DraftItem) -> bytes:
    """The survey of this one question, without texts and conditions: those change no figure."""
    asked = {key: value for key, value in card.asked.items() if key not in ("visible_if", "any_of", "hint", "cohort")}
    text = {"en": "–"}
    asked |= _unnamed(asked)
    if isinstance(asked.get("of"), dict):
        of = {key: value for key, value in asked["of"].items() if key != "when_absent"}
        asked["of"] = of | _unnamed(of)
    # An absent option is looked up by its name, and changes no figure either.
    asked.pop("when_absent", None)
    asked |= {"name": "q", "label": text}
    alone = SurveyDraft(
        {"title": text, "revision": 1}, (replace(card, asked=asked),), tags=("en",), declining=draft.declining
    )
    return canonical.dump(survey_document(alone, "q"))


def _unnamed(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The lists of a question's document, as long as they are, with names of no meaning."""
    return {
        key: [{"name": f"o{place}", "label": {"en": "–"}} for place in range(len(asked[key]))]
        for key in ("choices", "coordinates", "rows")
        if key in asked
    }


@lru_cache(maxsize=4096)
def _question(document: bytes) -> Question | None:
    try:
        return parse_survey(canonical.load(document)).questions[0]
    except SpecError:
        return None


def steps_of(draft: SurveyDraft, card: DraftItem) -> Sequence[Step]:
    """What each private step would mean for this card, and its own protection; none while it is not complete."""
    found = []
    own = ("other",) if card.harm == "other" else ()
    for harm in ("little", "clearly", "badly", *own):
        question = question_of(draft, replace(card, harm=harm))
        if question is not None:
            found.append(Step(harm, question.epsilon, _told(question), belief_after(BELIEF_BEFORE, question.epsilon)))
    return found


def _told(question: Question) -> tuple[int, int] | None:
    measure = measure_of(question)
    if not isinstance(measure, ShareChannel):
        return None
    return _of_hundred(measure.a), _of_hundred(measure.b)


def _of_hundred(share: float) -> int:
    """As the form rounds it; ``round`` would take half a person now up, now down."""
    return math.floor(100 * share + 0.5)


def figures_of(draft: SurveyDraft, card: DraftItem) -> Figures | None:
    """The figures beside a card; None for a note, and while the card is not complete."""
    question = question_of(draft, card)
    if question is None:
        return None
    private = question.mechanism is not None
    share = _share_asked(draft) / drawn_from(question) if private else 1.0
    measure, people = measure_of(question), draft.people
    openly = None if people is None else widest_margin(measure.openly, people)
    wanted = _wanted(measure, openly)
    needed = {draft.declining: _needed(question, wanted, share)}
    for way in {"own", "never"} - set(needed):
        needed[way] = _needed(question_of(replace(draft, declining=way), card), wanted, share)
    with_own, without = needed["own"], needed["never"]
    return Figures(
        question=question,
        epsilon=question.epsilon if private else 0.0,
        number=is_number(question),
        margin=None if people is None else widest_margin(measure, people * share),
        openly=openly,
        wanted=wanted,
        needed=needed[draft.declining],
        declining=None if with_own is None or without is None else max(with_own - without, 0) or None,
    )


def _needed(question: Question | None, wanted: float, share: float) -> int | None:
    """People of whom such a share is asked the question, so that their reports give the margin."""
    reports = None if question is None else reports_for(measure_of(question), wanted)
    return None if reports is None else math.ceil(reports / share)


def _wanted(measure: Measure, openly: float | None) -> float:
    """What asking openly would give, in whole points; three points, or a thirtieth of the range, if unknown."""
    if isinstance(measure, ShareChannel):
        return 3 * _POINT if openly is None else max(round(openly / _POINT), 1) * _POINT
    return (measure.high - measure.low) / 30 + measure.blur if openly is None else openly + measure.blur


def asked_of_each(draft: SurveyDraft) -> int:
    """How many private questions each person is asked."""
    private, ask = private_questions(draft), draft.head.get("ask")
    return ask if isinstance(ask, int) and 1 <= ask < private else private


def _share_asked(draft: SurveyDraft) -> float:
    return asked_of_each(draft) / max(private_questions(draft), 1)


class DraftFigures:
    """
    Figures of one draft, each computed once: its problems, its totals and its page all need them.

    Args:
        draft: complete or not.
    """

    def __init__(self, draft: SurveyDraft) -> None:
        self.draft = draft

    @cached_property
    def of_items(self) -> Sequence[Figures | None]:
        """Figures of each item; None for a note, and for an incomplete question."""
        return [figures_of(self.draft, item) for item in self.draft.cards]

    @property
    def questions(self) -> Sequence[Question | None]:
        """The question of each item; None for a note, and for an incomplete question."""
        return [found.question if found else None for found in self.of_items]

    @cached_property
    def totals(self) -> Totals:
        """Figures of the whole, from the complete questions."""
        return _totals(self.draft, self.of_items)


def totals_of(draft: SurveyDraft) -> Totals:
    """Return the figures of the whole, from the complete questions."""
    return DraftFigures(draft).totals


def _totals(draft: SurveyDraft, of_items: Sequence[Figures | None]) -> Totals:
    known = [(card, found) for card, found in zip(draft.cards, of_items, strict=True) if found is not None]
    epsilons = [figures.epsilon for card, figures in known if figures.epsilon for _ in range(rows_of(card))]
    private, asked = private_questions(draft), asked_of_each(draft)
    epsilon = report_epsilon(epsilons, min(asked, len(epsilons))) if epsilons else 0.0
    margins = [figures.margin for _, figures in known if not figures.number and figures.margin is not None]
    needs = [figures.needed for _, figures in known]
    margin = max(margins, default=None)
    return Totals(
        epsilon=epsilon,
        private=private,
        asked=asked,
        pairs=asked * (asked - 1) / (private * (private - 1)) if private > 1 else None,
        after=belief_after(BELIEF_BEFORE, epsilon),
        margin=margin,
        # Two groups of half the people each: either has twice the variance, and the difference has both.
        difference=None if margin is None else min(2 * margin, 1.0),
        cell=None if draft.people is None else _widest_cell(draft, draft.people, known),
        needed=None if None in needs else max((each for each in needs if each is not None), default=None),
    )


def _widest_cell(draft: SurveyDraft, people: int, known: Sequence[tuple[DraftItem, Figures]]) -> float | None:
    """Of all tables of two questions, at least one of them private."""
    # Questions of one kind have one channel, however many there are.
    kinds: dict[object, list[Question]] = {}
    for card, found in known:
        alike = kinds.setdefault((found.question.domain, found.question.mechanism), [])
        alike += [found.question] * rows_of(card)
    pairs = [(one[0], other[-1]) for one, other in product(kinds.values(), repeat=2) if one is not other or one[1:]]
    widths = [_cell(pair, people * _share_of_pair(draft, pair)) for pair in pairs]
    return max((width for width in widths if width is not None), default=None)


def _cell(pair: tuple[Question, Question], reports: float) -> float | None:
    return min(width, 1.0) if reports and (width := cell_half_width(*pair, reports)) is not None else None


def _share_of_pair(draft: SurveyDraft, pair: tuple[Question, Question]) -> float:
    """Of the reports, which tell of both, or of one option of each; 0 too of two public ones, which need no dice."""
    private, asked = private_questions(draft), asked_of_each(draft)
    through_dice = sum(question.mechanism is not None for question in pair)
    share = {0: 0.0, 1: asked / max(private, 1), 2: asked * (asked - 1) / max(private * (private - 1), 1)}
    return share[through_dice] / (drawn_from(pair[0]) * drawn_from(pair[1]))


def rows_of(card: DraftItem) -> int:
    """How many questions a card asks: each row of a matrix is one."""
    return len(card.asked.get("rows", ())) if card.type == "matrix" else 1


class Panel(NamedTuple):
    """
    All waves together.

    Attributes:
        waves: how many there are.
        epsilon: of all of one person's reports.
    """

    waves: int
    epsilon: float


def panel_of(draft: SurveyDraft, name: str) -> Panel | None:
    """The panel that a draft is; None if it is asked once, costs nothing, or is no survey yet."""
    if len(draft.waves) < 2:
        return None
    try:
        survey = parse_survey(survey_document(draft, name))
    except SpecError:
        return None
    waves = len(survey.waves)
    epsilon = survey.epsilon_of_memo + waves_epsilon(survey.epsilon_of_wave, waves) if survey.private else 0.0
    return Panel(waves, epsilon) if epsilon else None
