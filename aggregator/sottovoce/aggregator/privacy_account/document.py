"""The whole privacy account of a survey as one document (sottovoce-privacy/1), made from the survey alone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.planning.traffic_analysis import blind_limits
from sottovoce.shared.accounting import (
    MAX_WAVES,
    Loss,
    belief_after,
    check_delta_among,
    group_loss,
    report_epsilon,
    waves_epsilon,
)
from sottovoce.shared.composition import advanced_epsilon, optimal_epsilon
from sottovoce.shared.errors import SpecError
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.memoized_rr import MemoizedRR
from sottovoce.shared.odds_in_words import odds_in_words
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.shuffling import MAX_EXACT, clone_weight, pair_weight, shuffled_binary, shuffled_bound
from sottovoce.shared.spec import Question, Survey


def stored(survey: Survey, words: Words) -> list[str]:
    """What is kept, where and for how long."""
    days, batch = survey.ids_days, survey.release_batch
    public = [question.name for question in survey.questions if question.mechanism is None]
    told = [
        words.say("privacy_stored_report"),
        words.say("privacy_stored_id", days=days) if days else words.say("privacy_stored_id_a_day"),
        words.say("privacy_stored_withdrawn"),
        words.say("privacy_stored_counts", batch=batch) if batch > 1 else words.say("privacy_stored_counts_each"),
    ]
    if public:
        told.append(words.say("privacy_stored_public", names=", ".join(f"'{name}'" for name in public)))
    if survey.asks_for_token:
        told.append(words.say("privacy_stored_token"))
    if survey.is_blind:
        told.append(words.say("privacy_stored_blind"))
    if survey.send_within_hours:
        told.append(words.say("privacy_stored_wait", hours=survey.send_within_hours))
    told.append(words.say("privacy_stored_coin" if survey.own_coin else "privacy_stored_device"))
    if survey.ask is not None:
        told.append(words.say("privacy_stored_asked"))
    if survey.memoized:
        told.append(words.say("privacy_stored_memo"))
    return [*told, words.say("privacy_stored_nothing")]


def limits(survey: Survey, words: Words) -> list[str]:
    """What this does not protect against."""
    told = [words.say(f"ethics_limit_{name}") for name in ("device", "seen", "twice", "page")]
    told += [words.say("privacy_limit_other"), words.say("ethics_limit_group"), words.say("privacy_limit_false")]
    told += [
        words.say("privacy_limit_memo", name=name, epsilon=show_epsilon(mechanism.instantaneous.epsilon))
        for name, mechanism in memoized(survey)
    ]
    if survey.asks_for_token:
        told.append(words.say("ethics_limit_token"))
    told += [words.say(f"ethics_limit_{name}") for name in blind_limits(survey)]
    if survey.own_coin:
        told.append(words.say("privacy_limit_coin"))
    if any(question.mechanism is None for question in survey.questions):
        told.insert(0, words.say("privacy_limit_public"))
    return told


def memoized(survey: Survey) -> list[tuple[str, MemoizedRR]]:
    """The questions of which devices remember a draw, with their mechanisms."""
    return [(q.name, q.mechanism) for q in survey.questions if isinstance(q.mechanism, MemoizedRR)]


FORMAT = "sottovoce-privacy/1"

WAVES = 4
"""Of a panel, if the survey itself says nothing of waves."""

BELIEFS = (0.01, 0.1, 0.3, 0.5)
"""What somebody believed before, in the tables."""

GAIN = 0.99
"""A smaller figure under a condition is shown where it is below this share of the plain sum."""

# In these each output is likeliest for one truth only; see ``shuffling``.
_PAIRED = {"binary_rr", "kary_rr"}

Document = dict[str, Any]


@dataclass(frozen=True)
class AccountTerms:
    """
    What the account is made for.

    Attributes:
        people: number k of people in a household, or of others who stand or fall together.
        waves: how many times the same people might be asked; None is as often as the survey is, or 4 if that is once.
        respondents: number of reports that are mixed, for the conditional figures; None leaves them out.
        delta: of all figures that need one.
    """

    people: int = 4
    waves: int | None = None
    respondents: int | None = None
    delta: float = 1e-6


def usual_delta(respondents: int | None) -> float:
    """What delta is unless somebody names another: 10^-6, and no more than 1/n^2."""
    return AccountTerms.delta if respondents is None or respondents < 1 else min(AccountTerms.delta, 1 / respondents**2)


def account(survey: Survey, terms: AccountTerms, sentences: Mapping[str, str], words: Words) -> Document:
    """
    The account of a survey.

    Args:
        survey: published or not.
        terms: what it is made for.
        sentences: of the form, which tells respondents the odds in the same words; none leaves them out.
        words: the language, which is also that of the survey's texts where it has it.

    Raises:
        SpecError: a term is out of range.
    """
    try:
        check_delta_among(terms.delta, terms.respondents or 1)
        return _account(survey, terms, sentences, words)
    except ValueError as error:
        raise SpecError(str(error)) from None


def _account(survey: Survey, terms: AccountTerms, sentences: Mapping[str, str], words: Words) -> Document:
    return {
        # First of all, so that nobody takes it for the real survey's.
        **({"trial": True} if survey.trial else {}),
        "format": FORMAT,
        "survey": survey.name,
        "revision": survey.revision,
        "digest": None if survey.lacks_keys else survey.digest,
        "title": survey.text(survey.title, words.language),
        "language": words.language if words.language in survey.title else survey.default_language,
        "questions": [_question(survey, question, sentences, words) for question in survey.questions],
        **_totals(survey, terms),
        "shuffled": _shuffled(survey, terms),
        "stored": stored(survey, words),
        "limits": limits(survey, words),
    }


def _totals(survey: Survey, terms: AccountTerms) -> Document:
    """What a report, a household and a panel cost; null where nothing is randomized, since 0 would be a promise."""
    epsilons = [question.epsilon for question in survey.questions]
    report = report_epsilon(epsilons, survey.ask)
    household = group_loss(Loss(report), terms.people).epsilon
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
        "composed": _composed(survey, epsilons, waves, terms.delta, panel),
    }


def _waves(survey: Survey, terms: AccountTerms) -> int:
    """
    How many waves the panel has.

    Raises:
        ValueError: a memo does not cover so many.
    """
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
        "odds": odds_in_words(question, sentences) if sentences else "",
        "beliefs": None if mechanism is None else _beliefs(question.epsilon),
        "yes_no": _after_each(mechanism) if isinstance(mechanism, BinaryRR) else None,
    }


def _beliefs(epsilon: float) -> list[Document]:
    """Belief in any one statement about the answer: before, and between which limits after any report at all."""
    rows = []
    for before in BELIEFS:
        least = 1 - belief_after(1 - before, epsilon)
        rows.append({"before": before, "at_least": max(0.0, least), "at_most": belief_after(before, epsilon)})
    return rows


def _after_each(channel: BinaryRR) -> list[Document]:
    """Belief that the true answer is yes: before, after a reported yes, after a reported no."""
    rows: list[Document] = []
    for before in BELIEFS:
        after = {"before": before}
        for name, reported in (("after_yes", 1), ("after_no", 0)):
            yes, no = (float(channel.probability(reported, truth)) for truth in (1, 0))
            after[name] = before * yes / (before * yes + (1 - before) * no)
        rows.append(after)
    return rows


def _composed(survey: Survey, epsilons: list[float], waves: int, delta: float, panel: float) -> Document | None:
    """
    The panel's account that may fail with probability delta, where that gains anything on the plain sum.

    Every answer counts as much as the costliest one, which makes the theorem for equal releases an upper bound. Reports
    that share a memo are not drawn apart, so the theorem says nothing of them.
    """
    if survey.memoized:
        return None
    costliest = max(epsilons)
    private = sum(epsilon > 0 for epsilon in epsilons)
    answers = min(private, survey.ask or private) * waves
    if answers == 0:
        return None
    optimal = optimal_epsilon(costliest, answers, delta)
    if optimal > GAIN * panel:
        return None
    advanced = advanced_epsilon(costliest, answers, delta)
    shown = advanced if advanced is not None and advanced < panel else None
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
        if isinstance(mechanism, BinaryRR) and mechanism.a == 1 - mechanism.b and terms.respondents <= MAX_EXACT:
            exact = shuffled_binary(float(mechanism.a), terms.respondents, terms.delta)
        rows.append({"name": question.name, "alone": question.epsilon, "at_most": bound, "exact": exact})
    return {"respondents": terms.respondents, "delta": terms.delta, "questions": rows}
