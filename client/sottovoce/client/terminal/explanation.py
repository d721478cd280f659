"""Before the first question: what the survey is, how answers are protected, what it costs, what that does not cover."""

import click
from sottovoce.client.respondent import Respondent
from sottovoce.client.terminal.screen import heading, tell
from sottovoce.client.words import odds_in_words, say, text_of
from sottovoce.shared.allowance import Allowance
from sottovoce.shared.errors import BudgetExhausted
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Survey


def explain(me: Respondent, allowance: Allowance) -> None:
    """The title, the texts, how the answers are protected, the odds of every question, and what it all costs."""
    survey = me.survey
    click.secho(text_of(survey, survey.title), bold=True, err=True)
    if survey.trial:
        tell("Try-out: not the real survey.")
    for key in ("description", "consent"):
        if key in survey.document:
            tell(text_of(survey, survey.document[key]))
    _explain_costs(me, allowance)
    heading(say("limits_title"))
    tell(say("limits_presence"))
    tell("The dice are rolled once, and this device keeps the result. Another device, or an erased ledger, would mean")
    tell("a second roll, and two reports give away more than one.")
    heading(say("questions_title"))
    if survey.ask is not None:
        tell(say("explain_ask", private=str(len(survey.private)), asked=str(survey.ask)))
    for number, asked in enumerate(me.asked, 1):
        tell(f"  {number}. {text_of(survey, asked.label)}\n     {odds_in_words(asked)}")
    tell(f"\nCtrl-C stops at any moment before sending, and leaves nothing behind{but_the_set(survey)}.")


def _explain_costs(me: Respondent, allowance: Allowance) -> None:
    survey, epsilon = me.survey, me.survey.epsilon
    heading(say("explain_title"))
    if survey.private:
        tell(say("explain_own_coin" if survey.own_coin else "explain_how"))
        tell(say("no_lie"))
    else:
        tell(say("all_public"))
    tell(say("explain_epsilon", epsilon=show_epsilon(epsilon), limit=f"{allowance.total:g}"))
    if len(survey.waves) > 1:
        tell(say("explain_waves", waves=str(len(survey.waves)), epsilon=show_epsilon(survey.epsilon_of_wave)))
    tell(f"The survey costs epsilon {show_epsilon(epsilon)} in total.")
    tell(f"You allow {allowance.question:g} for one question and {allowance.total:g} in total.")
    tell(_spent_before(me))


def _spent_before(me: Respondent) -> str:
    try:
        before = me.spent
    except BudgetExhausted:
        return "What earlier reports of this device cost cannot be told: the ledger has a damaged file."
    after = before + me.cost
    return (
        f"Earlier reports of this device to this aggregator cost epsilon {show_epsilon(before)}; "
        f"with this one it is {show_epsilon(after)}."
    )


def but_the_set(survey: Survey) -> str:
    """What is left behind when somebody stops before sending: under ``ask`` which questions were drawn for them."""
    return "" if survey.ask is None else " but which questions are yours"
