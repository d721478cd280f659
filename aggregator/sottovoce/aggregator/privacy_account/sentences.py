"""What a survey stores, and what it does not protect against: a sentence each, in any language of the studio."""

from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.planning.traffic_analysis import blind_limits
from sottovoce.shared.mechanisms.memoized_rr import MemoizedRR
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Survey


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
