"""Explain before the first question who asks, how answers are protected, what a report can tell, what that does not
cover.
"""

from collections.abc import Sequence

import click
from sottovoce.client.respondent import Respondent
from sottovoce.client.revisions import RevisionStatus
from sottovoce.client.terminal.begin import moment_in_words, researcher_line
from sottovoce.client.terminal.screen import heading, print_line
from sottovoce.client.transport import now
from sottovoce.client.waiting import longest_wait
from sottovoce.client.words import in_sequence, odds_in_words, share_in_words, text_of, translate
from sottovoce.shared.accounting import NEARLY_SURE, Allowance, percent_after
from sottovoce.shared.arms.arms import arm_index, samples
from sottovoce.shared.by_hand.own_coin import procedure
from sottovoce.shared.by_hand.protection import drawn_by_device, hidden_by_facts, is_all_by_hand
from sottovoce.shared.errors import BudgetExhausted
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Question, Survey


def explain(me: Respondent, allowance: Allowance, status: RevisionStatus | None = None) -> None:
    """Show the researcher, the title, the texts, the protection of answers, its limits, and each question's odds.

    ``allowance`` is what this person allows; ``status`` is None if it is unknown.
    """
    survey = me.survey
    _print_introduction(survey)
    if status is not None:
        closes = me.survey.waves[me.wave].closes
        if closes is not None:
            print_line(translate("status_open", date=moment_in_words(closes)))
        print_line(translate("status_withdraw"))
        if status.newest > 1:
            print_line(translate("about_revision", number=str(me.survey.revision), of=str(status.newest)))
    _explain_protection(me, allowance)
    _explain_limits(me)
    if survey.arms:
        # The arm is drawn at the beginning, and its questions are shown with it.
        print_line("\n" + translate("may_stop_arms"))
        return
    heading(translate("questions_title"))
    _explain_sample(me)
    _print_asked(me)
    print_line("\n" + translate("may_stop_ask" if samples(survey) else "may_stop"))


def explain_arm(me: Respondent) -> None:
    """Draw this person's arm, and show its questions and how their answers are sent; nothing without arms."""
    if me.survey.arms:
        heading(translate("questions_title"))
        print_line(translate(arm_sentence(me.asked)))
        _explain_sample(me)
        _print_asked(me)


def _explain_sample(me: Respondent) -> None:
    """Say of how many private questions the device has drawn some; nothing where this person is asked all."""
    for sample in samples(me.survey, arm_index(me.survey, me.arm)):
        print_line(translate("explain_ask", private=str(len(sample.units)), asked=str(sample.size)))


def arm_sentence(asked: Sequence[Question]) -> str:
    """Return the key of the sentence about how the answers of an arm with these questions are sent."""
    are_open = {question.mechanism is None for question in asked}
    return "arm_mixed" if len(are_open) > 1 else "arm_direct" if True in are_open else "arm_randomized"


def _print_asked(me: Respondent) -> None:
    for number, asked in enumerate(me.asked, 1):
        print_line(f"  {number}. {text_of(me.survey, asked.label)}\n     {odds_in_words(asked)}")


def _print_introduction(survey: Survey) -> None:
    if who := researcher_line(survey):
        print_line(who)
    click.secho(text_of(survey, survey.title), bold=True, err=True)
    if survey.trial:
        print_line(translate("status_trial"))
    for key in ("description", "consent"):
        if key in survey.document:
            print_line(text_of(survey, survey.document[key]))
    researcher = survey.document.get("researcher", {})
    if "ethics" in researcher:
        print_line(text_of(survey, researcher["ethics"]))
    if "notice" in survey.document:
        print_line(f"{translate('notice_title')}: {text_of(survey, survey.document['notice'])}")
    day = survey.document["retention"].get("delete_on")
    if day is not None:
        print_line(translate("about_deleted", date=day))


def _explain_protection(me: Respondent, allowance: Allowance) -> None:
    survey = me.survey
    if not survey.private:
        print_line("\n" + translate("all_public"))
        return
    heading(protection_title(survey))
    belief, how = _belief_sentence(survey), in_sequence(*map(translate, protection_sentences(survey)))
    # What all answers together may tell comes first where that is nearly everything.
    for line in [*group_sentences(survey), *((belief, how) if survey.epsilon >= NEARLY_SURE else (how, belief))]:
        print_line(line)
    no_lie = [translate("no_lie")] if survey.own_coin or drawn_by_device(survey) else []
    print_line(in_sequence(translate("evens_out"), *no_lie))
    if survey.arms and len(survey.groups) == 1:
        print_line(translate("arms_alike"))
    if len(survey.waves) > 1:
        print_line(
            translate("explain_waves", waves=str(len(survey.waves)), epsilon=show_epsilon(survey.epsilon_of_wave))
        )
    allowed = {"question": f"{allowance.question:g}", "total": f"{allowance.total:g}"}
    print_line(translate("in_numbers", epsilon=show_epsilon(survey.epsilon), **allowed))
    print_line(_spent_sentence(me))


_HOW = {
    "yes_no": "how_answer",
    "option": "how_answer",
    "waves": "how_answer",
    "number": "how_answer",
    "bits": "how_boxes",
}
"""Sentences about what is sent, by the kind of the report; every other kind sends a result that is no answer."""


def protection_title(survey: Survey) -> str:
    """Return the heading over what protects the answers: "randomized" is said of all only where all are."""
    (chance, total), *others = survey.groups
    key = "explain_title_some" if chance < total else "explain_title"
    key = "explain_title_arms" if others else "explain_title_fact" if hidden_by_facts(survey) else key
    return translate(key, chance=str(chance), total=str(total))


def group_sentences(survey: Survey) -> list[str]:
    """Return what chance decides of how answers are sent, before what is said of randomized ones; empty for nothing."""
    kinds = [
        translate(
            "group_mixed" if 0 < chance < total else "group_chance" if chance else "group_open",
            **{"share": share_in_words(share), "chance": str(chance), "total": str(total)},
        )
        for (chance, total), share in survey.groups.items()
    ]
    return [*kinds, translate("group_seen"), translate("group_protected")] if len(kinds) > 1 else []


def protection_sentences(survey: Survey) -> list[str]:
    """Return the keys of the sentences about the protection of a survey's randomized answers, in order.

    Where the whole report may make a belief of 10 % one of 90 %, none says that no one can be certain. The twin of
    ``protectionSentences`` in the form.
    """
    certain = [] if survey.epsilon >= NEARLY_SURE else ["how_certain"]
    others = ["how_open"] if [chance < total for chance, total in survey.groups] == [True] else []
    return [*_procedure(survey), *certain, *others]


def _procedure(survey: Survey) -> list[str]:
    """Return the keys of the sentences about what protects the answers: coins are named only if coins suffice."""
    private = [survey.questions[index] for index in survey.private]
    if not survey.own_coin:
        return [*(["how_dice"] if drawn_by_device(survey) else []), *dict.fromkeys(map(_how, private))]
    made = [procedure(each.mechanism) for each in private if each.mechanism]
    return ["explain_own_coin" if all(each is not None and each.flips for each in made) else "explain_own_die"]


def _how(question: Question) -> str:
    kind = question.mechanism.report_kind if question.mechanism else ""
    return "how_innocuous" if question.by_fact else _HOW.get(kind, "how_drawn")


def _belief_sentence(survey: Survey) -> str:
    """Return the sentence on how far a belief of 10 % can rise, after one answer and after all."""
    dearest = max(survey.questions, key=lambda question: question.epsilon)
    key = "belief_all" if dearest.epsilon < survey.epsilon else "belief_one"
    together = "_together" if dearest.member else ""
    return translate(f"{key}{together}", one=_share(dearest.epsilon), all=_share(survey.epsilon))


def _share(epsilon: float) -> str:
    share = percent_after(epsilon)
    return translate("nearly_100") if share > 99 else str(share)


def _explain_limits(me: Respondent) -> None:
    survey = me.survey
    heading(translate("limits_title"))
    sentences = [translate(key) for key in ("limits_presence", "limits_time")]
    if any(item.get("in_files") for item in survey.document["questions"]):
        sentences.append(translate("limits_files"))
    if survey.asks_for_token or survey.is_blind:
        sentences.append(translate("seen_blind" if survey.is_blind else "seen_link"))
    # In the last minutes of a wave nothing waits, so no wait is promised.
    waits = longest_wait(survey, me.wave, now()) > 0
    if survey.is_blind and not waits:
        sentences.append(translate("seen_blind_now"))
    if waits:
        moment = {"hours": str(survey.send_within_hours), "seconds": str(survey.send_at_seconds)}
        sentences.append(translate("explain_moment" if survey.send_at_seconds else "explain_later", **moment))
    for sentence in sentences:
        print_line(sentence)
    print_line(translate("once_tossed" if is_all_by_hand(survey) else "once_device"))


def _spent_sentence(me: Respondent) -> str:
    try:
        before = me.spent
    except BudgetExhausted:
        return translate("cost_unknown")
    return translate("cost_before", before=show_epsilon(before), after=show_epsilon(before + me.cost))
