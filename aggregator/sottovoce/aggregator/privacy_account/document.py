"""Compute the privacy account of a survey, a JSON document (sottovoce-privacy/1), from the survey alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.planning.traffic_analysis import blind_limits
from sottovoce.shared.accounting import (
    MAX_WAVES,
    advanced_epsilon,
    belief_after,
    check_delta_among,
    group_epsilon,
    optimal_epsilon,
    waves_epsilon,
)
from sottovoce.shared.arms.arms import Block
from sottovoce.shared.by_hand.protection import drawn_by_device, hidden_by_facts
from sottovoce.shared.errors import SpecError
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.memoized_rr import MemoizedRR
from sottovoce.shared.odds_in_words import odds_in_words
from sottovoce.shared.shuffling import MAX_EXACT, clone_weight, pair_weight, shuffled_binary, shuffled_bound
from sottovoce.shared.spec import Question, Survey


def stored(survey: Survey, words: Words) -> list[str]:
    """Return sentences on the stored data: where and how long they are kept."""
    public = [question.name for question in _answered(survey) if question.mechanism is None]
    values = {
        "days": survey.ids_days,
        "batch": survey.release_batch,
        "names": ", ".join(f"'{name}'" for name in public),
        "hours": survey.send_within_hours,
        "seconds": survey.send_at_seconds,
    }
    keys = {
        "privacy_stored_report": True,
        "privacy_stored_id" if survey.ids_days else "privacy_stored_id_a_day": True,
        "privacy_stored_withdrawn": True,
        "privacy_stored_counts" if survey.release_batch > 1 else "privacy_stored_counts_each": True,
        "privacy_stored_public": public,
        "privacy_stored_token": survey.asks_for_token,
        "privacy_stored_blind": survey.is_blind,
        "privacy_stored_wait": survey.send_within_hours,
        "privacy_stored_moment": survey.send_at_seconds,
        "privacy_stored_device" if drawn_by_device(survey) else "privacy_stored_coin": True,
        "privacy_stored_asked": survey.is_sampled or survey.arms,
        "privacy_stored_memo": survey.memoized,
        "privacy_stored_nothing": True,
    }
    return _holding(keys, words, values)


def _holding(keys: Mapping[str, object], words: Words, values: Mapping[str, object]) -> list[str]:
    """Return the sentences whose condition holds, in the order of the keys."""
    return [words.translate(key, **values) for key, holds in keys.items() if holds]


def limits(survey: Survey, words: Words) -> list[str]:
    """Return sentences on the limits of the protection."""
    usual = [f"ethics_limit_{name}" for name in ("device", "seen", "time", "twice", "page")]
    usual += ["privacy_limit_other", "ethics_limit_group", "privacy_limit_false"]
    is_public = any(question.mechanism is None for question in _answered(survey))
    facts = ", ".join(f"'{question.name}'" for question in hidden_by_facts(survey))
    some = {
        "ethics_limit_token": survey.asks_for_token,
        **{f"ethics_limit_{name}": True for name in blind_limits(survey)},
        "privacy_limit_coin": survey.own_coin and survey.private,
        "privacy_limit_kiosk": "kiosk" in survey.document and survey.private,
        "privacy_limit_fact": facts,
    }
    return [
        *_holding({"privacy_limit_public": is_public, **dict.fromkeys(usual, True)}, words, {}),
        *(
            words.translate("privacy_limit_memo", name=name, epsilon=words.write.epsilon(made.instantaneous.epsilon))
            for name, made in memoized(survey)
        ),
        *(
            words.translate(
                "privacy_limit_block", names=_names(survey, block), epsilon=words.write.epsilon(block.mechanism.epsilon)
            )
            for block in survey.blocks
        ),
        *_holding(some, words, {"names": facts}),
    ]


def _answered(survey: Survey) -> list[Question]:
    """Return the questions that people answer: the arm of a report is no answer."""
    return [question for item in survey.items for question in item.questions]


def _names(survey: Survey, block: Block) -> str:
    return ", ".join(f"'{survey.questions[index].name}'" for index in block.questions)


def memoized(survey: Survey) -> list[tuple[str, MemoizedRR]]:
    """Return the questions with memoized randomized response, as pairs of name and mechanism."""
    return [(q.name, q.mechanism) for q in survey.questions if isinstance(q.mechanism, MemoizedRR)]


FORMAT = "sottovoce-privacy/1"

WAVES = 4
"""Waves of the panel if the survey declares none."""

BELIEFS = (0.01, 0.1, 0.3, 0.5)
"""Prior beliefs in the tables."""

GAIN = 0.99
"""The epsilon of advanced composition is shown if it is at most this share of basic composition."""

# In these mechanisms each output has its largest probability under a single input, which ``pair_weight`` needs.
_PAIRED = {"binary_rr", "kary_rr"}

Document = dict[str, Any]


@dataclass(frozen=True)
class AccountTerms:
    """Assumptions of a privacy account.

    Attributes:
        people: group size k for group privacy, such as a household.
        waves: number of waves that ask the same people; None for the survey's own, or ``WAVES`` if it is asked once.
        respondents: number of shuffled reports for the figures of the shuffle model; None leaves them out.
        delta: delta of all figures that need one.
    """

    people: int = 4
    waves: int | None = None
    respondents: int | None = None
    delta: float = 1e-6


def usual_delta(respondents: int | None) -> float:
    """Return the default delta: 10^-6, and at most 1/n^2 for n respondents."""
    return AccountTerms.delta if respondents is None or respondents < 1 else min(AccountTerms.delta, 1 / respondents**2)


def account(survey: Survey, terms: AccountTerms, sentences: Mapping[str, str], words: Words) -> Document:
    """Return the privacy account of a survey, with its texts in the language of ``words`` if the survey has it.

    ``sentences`` are those of the respondents' form, for the same wording of the odds; empty leaves the odds out.
    Raises SpecError if a term is out of range.
    """
    try:
        check_delta_among(terms.delta, terms.respondents or 1)
        return _account(survey, terms, sentences, words)
    except ValueError as error:
        raise SpecError(str(error)) from None


def _account(survey: Survey, terms: AccountTerms, sentences: Mapping[str, str], words: Words) -> Document:
    return {
        # First, so that readers do not take it for the real survey's account.
        **({"trial": True} if survey.trial else {}),
        "format": FORMAT,
        "survey": survey.name,
        "revision": survey.revision,
        "digest": None if survey.lacks_keys else survey.digest,
        "title": survey.text(survey.title, words.language),
        "language": words.language if words.language in survey.title else survey.default_language,
        "questions": [_question(survey, question, sentences, words) for question in _answered(survey)],
        **({"blocks": [_block(survey, block) for block in survey.blocks]} if survey.blocks else {}),
        **_totals(survey, terms),
        "shuffled": _shuffled(survey, terms),
        "stored": stored(survey, words),
        "limits": limits(survey, words),
    }


def _totals(survey: Survey, terms: AccountTerms) -> Document:
    """Return the epsilon of a report, of a household (group privacy) and of a panel.

    They are null if no question is randomized: epsilon 0 would claim perfect privacy.
    """
    report = survey.epsilon
    household = group_epsilon(report, terms.people)
    waves = _waves(survey, terms)
    panel = survey.epsilon_of_memo + waves_epsilon(survey.epsilon_of_wave, waves)
    private = any(question.mechanism is not None for question in survey.questions)
    return {
        "report": {
            "epsilon": report if private else None,
            "asked": survey.ask,
            "beliefs": _beliefs(report) if private else None,
        },
        "household": {"people": terms.people, "epsilon": household if private else None},
        "panel": {"waves": waves, "epsilon": panel if private else None},
        "composed": _composed(survey, waves, terms.delta, panel),
    }


def _waves(survey: Survey, terms: AccountTerms) -> int:
    """Return the number of waves in the panel; raise ValueError if memoized answers cover fewer."""
    covered = min((mechanism.waves for _, mechanism in memoized(survey)), default=MAX_WAVES)
    own = len(survey.waves) if len(survey.waves) > 1 else min(WAVES, covered)
    waves = own if terms.waves is None else terms.waves
    if waves > covered:
        raise ValueError(f"what the device remembers covers {covered} waves, and no more")
    return waves


def _question(survey: Survey, question: Question, sentences: Mapping[str, str], words: Words) -> Document:
    mechanism = question.mechanism
    return {
        "name": question.name,
        "label": survey.text(question.label, words.language),
        "type": question.type,
        "mechanism": None if mechanism is None else mechanism.dump(),
        "epsilon": None if mechanism is None else question.epsilon,
        "odds": odds_in_words(question, sentences, words.language) if sentences else "",
        "beliefs": None if mechanism is None else _beliefs(question.epsilon),
        # Of a fact of the person's own no device draws: what is sent is not yes or no, and no share of it is certain.
        "yes_no": _after_each(question.binary) if question.binary and not question.by_fact else None,
    }


def _block(survey: Survey, block: Block) -> Document:
    """Return the epsilon of a block, spent once, and the odds of each question in it."""
    questions = [survey.questions[index] for index in block.questions]
    members = [(each.name, each.member) for each in questions if each.member]
    return {
        "name": block.name,
        "mechanism": block.mechanism.dump(),
        "epsilon": block.mechanism.epsilon,
        **({"asked": block.mechanism.ask} if block.mechanism.ask else {}),
        "questions": [
            {"name": name, "odds": float(block.mechanism.odds), "odds_alone": float(member.marginal_odds)}
            for name, member in members
        ],
    }


def _beliefs(epsilon: float) -> list[Document]:
    """Return, for each prior belief in a statement about the answer, the bounds of the posterior after any report."""
    rows = []
    for before in BELIEFS:
        least = 1 - belief_after(1 - before, epsilon)
        rows.append({"before": before, "at_least": max(0.0, least), "at_most": belief_after(before, epsilon)})
    return rows


def _after_each(channel: BinaryRR) -> list[Document]:
    """Return, for each prior belief in a true yes, the posterior after a reported yes and after a reported no."""
    rows: list[Document] = []
    for before in BELIEFS:
        after = {"before": before}
        for name, reported in (("after_yes", 1), ("after_no", 0)):
            yes, no = (float(channel.probability(reported, truth)) for truth in (1, 0))
            after[name] = before * yes / (before * yes + (1 - before) * no)
        rows.append(after)
    return rows


def _composed(survey: Survey, waves: int, delta: float, panel: float) -> Document | None:
    """Return the panel's epsilon under advanced composition with delta, or None if it gains nothing on the plain sum.

    Every answer counts as the costliest one, so that the theorem for equal releases gives an upper bound. Reports that
    share a memo are not drawn independently: the theorem does not apply, the result is None. Each person is in one arm,
    so the figure is the largest of all arms; the arm with the largest sum need not have it, because many small answers
    gain more than a few costly ones. Where waves draw the arm anew, each answer may be the costliest and each wave the
    longest of all arms.
    """
    if survey.memoized:
        return None
    arms = [[epsilon for epsilon in each if epsilon > 0] for each in survey.epsilons_by_arm]
    spent = [(max(each), min(len(each), survey.ask or len(each)) * waves) for each in arms if each]
    if not spent:
        return None
    if "arms_per_wave" in survey.document:
        costs, numbers = zip(*spent, strict=True)
        spent = [(max(costs), max(numbers))]
    optimal, answers = max((optimal_epsilon(*each, delta), each[1]) for each in spent)
    if optimal > GAIN * panel:
        return None
    known = [each for each in [advanced_epsilon(*each, delta) for each in spent] if each is not None and each < panel]
    shown = max(known) if len(known) == len(spent) else None
    return {"delta": delta, "answers": answers, "epsilon": optimal, "advanced": shown}


def _shuffled(survey: Survey, terms: AccountTerms) -> Document | None:
    if terms.respondents is None:
        return None
    rows = []
    for question in survey.questions:
        mechanism = question.mechanism
        if mechanism is None:
            continue
        weight: Callable[[float], float] = pair_weight if mechanism.name in _PAIRED else clone_weight
        bound = shuffled_bound(question.epsilon, weight(question.epsilon), terms.respondents, terms.delta)
        exact = None
        # With an uncertain share the channel may be dearer than its table.
        binary = None if question.by_fact else question.binary
        if binary and binary.a == 1 - binary.b and terms.respondents <= MAX_EXACT:
            exact = shuffled_binary(float(binary.a), terms.respondents, terms.delta)
        rows.append({"name": question.name, "alone": question.epsilon, "at_most": bound, "exact": exact})
    return {"respondents": terms.respondents, "delta": terms.delta, "questions": rows}
