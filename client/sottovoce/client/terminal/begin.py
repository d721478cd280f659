"""Check before the first question that the survey is open and this link valid."""

from datetime import datetime

from sottovoce.client.link import Link
from sottovoce.client.respondent import Respondent
from sottovoce.client.revisions import RevisionStatus
from sottovoce.client.terminal.screen import confirm_or_abort, print_line
from sottovoce.client.words import choose_language, in_sequence, text_of, translate
from sottovoce.shared.errors import BudgetExhausted, TransportError
from sottovoce.shared.spec import Survey


def check_open(me: Respondent) -> RevisionStatus | None:
    """Return the survey's status in this wave; None if it is unknown, which does not prevent answering.

    Raises TransportError, in words, if it is closed, not open yet, or this revision begins no answer any more.
    """
    try:
        # An unknown status does not block: offline devices may draw now and send later.
        found = me.standing()
    except TransportError as error:
        _print_unless_final(error)
        return None
    if found is not None and found.state != "open":
        raise TransportError(_refusal_sentence(me, found))
    return found


def announce(me: Respondent, link: Link) -> None:
    """Speak the person's language from now on, and say so if the link does not name a version of the survey.

    Raises BudgetExhausted if another program has recorded a report meanwhile.
    """
    if me.drawn:
        raise BudgetExhausted("another program has just answered this survey here; run this command again")
    choose_language(me.survey)
    if not link.digest:
        print_line(translate("link_not_pinned"))


def begin(me: Respondent, asks: bool) -> None:
    """Check that the link's token is unspent, or redeem its invitation; do nothing if the survey is open to all.

    With ``asks``, ask the person first, because the aggregator then sees that the link was opened.

    Raises:
        TransportError: the link cannot be used; in words.
        click.Abort: the person does not begin; nothing was sent.
    """
    if not me.survey.asks_for_invitation:
        return
    if asks:
        # Consent first: the request shows the server that this personal link was opened, and when.
        confirm_or_abort(f"\n{translate('begin')}?", default=True)
    if me.survey.is_blind:
        me.redeem()
        return
    try:
        good = me.check_token()
    except TransportError as error:
        _print_unless_final(error)
        return
    if good is False:
        raise TransportError(in_sequence(translate("status_token"), contact_sentence(me.survey)))


def contact_sentence(survey: Survey) -> str:
    """Return a sentence that says who can help."""
    who = researcher_line(survey)
    return translate("ask_who", who=who) if who else translate("ask_giver")


def researcher_line(survey: Survey) -> str:
    """Return the researcher's institution, name and contact; "" if the survey has none."""
    researcher = survey.document.get("researcher", {})
    names = [text_of(survey, researcher[key]) for key in ("institution", "name") if key in researcher]
    return ", ".join(names + ([researcher["contact"]] if "contact" in researcher else []))


def moment_in_words(moment: datetime) -> str:
    """Format a moment in UTC, so that it reads the same in every time zone."""
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _refusal_sentence(me: Respondent, found: RevisionStatus) -> str:
    window = me.survey.waves[me.wave]
    if found.state == "early":
        return _dated("status_early", window.opens, "status_not_yet")
    if found.state == "retired":
        return in_sequence(translate("status_retired"), translate("nothing_asked"), contact_sentence(me.survey))
    if found.closed_on:
        return translate("status_closed", date=found.closed_on.isoformat())
    return _dated("status_closed", window.closes, "error_closed")


def _dated(key: str, moment: datetime | None, undated: str) -> str:
    return translate(key, date=moment_in_words(moment)) if moment else translate(undated)


def _print_unless_final(error: TransportError) -> None:
    if error.status is None:
        print_line(translate("status_offline"))
    elif not error.is_final:
        print_line(translate("busy"))
