"""Handle blocks of a draft: cards whose answers are protected together, by one mechanism and in one report."""

import math
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from sottovoce.aggregator.authoring.conditions import condition_problems
from sottovoce.aggregator.authoring.cost_and_precision import figures_of, question_of, unit_epsilons
from sottovoce.aggregator.authoring.draft import DraftItem, DraftSample, SurveyDraft, arm_on_card, free_name
from sottovoce.aggregator.planning.block_choice import LEAST_GAIN
from sottovoce.shared.accounting import DEFAULT_ALLOWANCE, report_epsilon
from sottovoce.shared.arms.arms import asked_of
from sottovoce.shared.mechanisms.joint_rr import MAX_QUESTIONS, MIN_QUESTIONS, JointRR
from sottovoce.shared.rational import log

_ALONE = {"anchor", "procedure"}
"""Keys of questions that cannot be in a block."""

_ROUNDING = Fraction(1, 10**12)

_MOST_SUGGESTED_ODDS = 9
"""Odds up to which the page ticks cards beforehand: those of two coin flips in one block."""


@dataclass(frozen=True)
class ProtectedTogether:
    """Cards in one block, compared with the same cards by themselves.

    Attributes:
        questions: number of answers.
        epsilon, epsilon_apart: of one report, for the cards together and by themselves.
        people, people_apart: people needed for every share to within the margin of ``Figures.wanted``.
        margin: that margin.
        odds: worst-case odds for one answer, to people who know the others.
        odds_alone: the same if nothing else is known.
        odds_apart: worst-case odds for one answer by itself.
    """

    questions: int
    epsilon: float
    epsilon_apart: float
    people: int
    people_apart: int
    margin: float
    odds: float
    odds_alone: float
    odds_apart: float


def joinable_cards(draft: SurveyDraft) -> list[int]:
    """Return the numbers of the cards that may be protected together: those whose answer is one of some options."""
    found = []
    for number, card in enumerate(draft.cards):
        question = None if card.block or card.harm == "public" else question_of(draft, card)
        if question is None or question.mechanism is None or _ALONE & {*card.asked, *card.treated}:
            continue
        # A device that remembers an answer over waves does so for one question.
        if question.kind.takes_category and question.mechanism.waves == 1:
            found.append(number)
    return found


def protect_together(draft: SurveyDraft, numbers: Collection[int]) -> SurveyDraft:
    """Put cards into one block, next to each other, at the epsilon that they cost a person, or at what devices allow.

    Cards that cannot be in a block stay by themselves, and so do one alone and those of other arms than the first.
    """
    chosen = [number for number in joinable_cards(draft) if number in numbers]
    chosen = [each for each in chosen if arm_on_card(draft.cards[each]) == arm_on_card(draft.cards[chosen[0]])]
    cards = [draft.cards[number] for number in chosen]
    if sum(card.row_count for card in cards) < MIN_QUESTIONS:
        return draft
    asked = [(card, question_of(draft, card)) for card in cards]
    apart = _epsilon_apart(draft, [(card, question.epsilon) for card, question in asked if question is not None])
    epsilon = min(Fraction(apart) + _ROUNDING, Fraction(DEFAULT_ALLOWANCE.question))
    name = free_name("together", {*draft.blocks, *(card.name for card in draft.cards)})
    rest = [(number, card) for number, card in enumerate(draft.cards) if number not in chosen]
    joined = []
    for place in (chosen[0], chosen[-1]):
        before = [card for number, card in rest if number < place]
        after = [card for number, card in rest if number > place]
        joined.append(replace(draft, cards=(*before, *(replace(card, block=name) for card in cards), *after)))
    # Questions that depend on each other keep their order where one of the two places allows it.
    problems = [len([*condition_problems(each)]) for each in joined]
    best = joined[problems.index(min(problems))]
    return replace(best, blocks={**draft.blocks, name: _fitted(epsilon, _sizes(draft, cards))})


def _epsilon_apart(draft: SurveyDraft, cards: Sequence[tuple[DraftItem, float]]) -> float:
    """Return what a person spends at most on cards by themselves, of which ``ask`` may draw some."""
    epsilons = unit_epsilons(cards)
    sample = DraftSample(draft)
    return report_epsilon(epsilons, min(asked_of(sample, sample.units), len(epsilons)))


def _sizes_of(draft: SurveyDraft, block: str) -> tuple[int, ...]:
    apart = separate(draft, block)
    return _sizes(apart, [apart.cards[number] for number, card in enumerate(draft.cards) if card.block == block])


def _sizes(draft: SurveyDraft, cards: Sequence[DraftItem]) -> tuple[int, ...]:
    found = ((question_of(draft, card), card.row_count) for card in cards)
    return tuple(question.domain.size for question, rows in found if question is not None for _ in range(rows))


@lru_cache(maxsize=256)
def _fitted(epsilon: Fraction, sizes: tuple[int, ...], ask: int | None = None) -> dict[str, Any]:
    """Return a block's document with the best radius; where there is none, with an epsilon, which is then refused.

    All questions are asked where ``ask`` of these cannot be drawn.
    """
    if isinstance(ask, int):
        with suppress(ValueError):
            return {"mechanism": JointRR.for_epsilon(epsilon, sizes, ask).dump(), "ask": ask}
    with suppress(ValueError):
        return {"mechanism": JointRR.for_epsilon(epsilon, sizes).dump()}
    return {"mechanism": {"epsilon": f"{float(epsilon):.4f}"}}


def separate(draft: SurveyDraft, name: str) -> SurveyDraft:
    """Take a block apart: its cards are protected by themselves, as they were before."""
    cards = tuple(replace(card, block="") if card.block == name else card for card in draft.cards)
    return replace(draft, cards=cards, blocks={key: made for key, made in draft.blocks.items() if key != name})


def refitted(draft: SurveyDraft, name: str) -> SurveyDraft:
    """Choose the radius of a block anew after it got or lost a card; a block with one question left is taken apart."""
    if name not in draft.blocks:
        return draft
    cards = [card for card in draft.cards if card.block == name]
    if sum(card.row_count for card in cards) < MIN_QUESTIONS:
        return separate(draft, name)
    sizes = _sizes_of(draft, name)
    with suppress(ValueError, TypeError, KeyError):
        epsilon = Fraction(log(Fraction(draft.blocks[name]["mechanism"]["odds"]))) + _ROUNDING
        return replace(draft, blocks={**draft.blocks, name: _fitted(epsilon, sizes, draft.ask_of(name))})
    return draft


def drawable(draft: SurveyDraft, name: str) -> range:
    """Return how many questions of a block may be asked instead of all; empty for unequal numbers of options."""
    sizes = _sizes_of(draft, name)
    return range(len(sizes) - 1, MIN_QUESTIONS - 1, -1) if len({*sizes}) == 1 else range(0)


def with_ask(draft: SurveyDraft, name: str, ask: int | None) -> SurveyDraft:
    """Set how many questions of a block each person is asked, at the same odds: ``ask`` if ``drawable``, else all."""
    if not isinstance(draft.blocks[name].get("mechanism"), Mapping):
        # Of an imported file; the page reports it as a problem.
        return draft
    made = {key: value for key, value in draft.blocks[name].items() if key != "ask"}
    made |= {"ask": ask} if ask in drawable(draft, name) else {}
    return refitted(replace(draft, blocks={**draft.blocks, name: made}), name)


def compared(draft: SurveyDraft, name: str) -> ProtectedTogether | None:
    """Compare a block with its cards by themselves; None if the block is incomplete or refused."""
    numbers = [number for number, card in enumerate(draft.cards) if card.block == name]
    cards, apart = [draft.cards[number] for number in numbers], separate(draft, name)
    together = [figures_of(draft, card) for card in cards]
    alone = [figures_of(apart, apart.cards[number]) for number in numbers]
    members = [each.question.member for each in together if each and each.needed and each.question.member]
    known = [each for each in alone if each and each.needed]
    if not members or not len(members) == len(known) == len(cards):
        return None
    own = [(apart.cards[number], each.question.epsilon) for number, each in zip(numbers, known, strict=True)]
    return ProtectedTogether(
        questions=members[0].block.asked,
        epsilon=members[0].block.epsilon,
        epsilon_apart=_epsilon_apart(apart, own),
        people=max(each.needed or 0 for each in together if each),
        people_apart=max(each.needed or 0 for each in known),
        margin=max(each.wanted for each in known),
        odds=float(members[0].block.odds),
        odds_alone=max(float(member.marginal_odds) for member in members),
        odds_apart=math.exp(max(each.question.epsilon for each in known)),
    )


def compared_selection(draft: SurveyDraft, numbers: Collection[int]) -> ProtectedTogether | None:
    """Compare cards that are not in a block yet, as ``compared``; None if they cannot be in one block."""
    joined = protect_together(draft, numbers)
    name = next((name for name in joined.blocks if name not in draft.blocks), "")
    return compared(joined, name) if name else None


def suggested(draft: SurveyDraft) -> ProtectedTogether | None:
    """Return all cards that may be protected together, if that takes a fifth fewer people; else None.

    None, too, if people who know the other answers could then learn one with odds above 9: that is for the author.
    """
    numbers = joinable_cards(draft)
    if not MIN_QUESTIONS <= sum(draft.cards[number].row_count for number in numbers) <= MAX_QUESTIONS:
        return None
    found = compared_selection(draft, numbers)
    if found is None or found.odds > _MOST_SUGGESTED_ODDS:
        return None
    costs_more = found.epsilon > found.epsilon_apart + float(_ROUNDING)
    return found if found.people <= LEAST_GAIN * found.people_apart and not costs_more else None
