"""What an account tells beside its figures: consent, dates, deletion, and the notice that data protection asks for."""

from collections.abc import Sequence

from sottovoce.aggregator.i18n.translator import Words
from sottovoce.shared.spec import Survey


def study(survey: Survey, language: str, words: Words) -> Sequence[tuple[str, Sequence[str]]]:
    """
    (key of a heading, what stands under it), in order.

    Args:
        survey: published or not.
        language: of its texts.
        words: in the language of the sentences.
    """
    consent = _text(survey, "consent", language) or words.say("privacy_no_consent")
    return [
        ("privacy_study", [words.say("privacy_voluntary"), *_dates(survey, words)]),
        ("ethics_consent", consent.split("\n\n")),
        ("ethics_notice", _notice(survey, language, words)),
    ]


def _dates(survey: Survey, words: Words) -> list[str]:
    window = [("letter_opens", survey.opens), ("letter_until", survey.closes)]
    told = [words.say(key, moment=words.moment(moment)) for key, moment in window if moment]
    if survey.delete_on is None:
        return [*told, words.say("privacy_no_deletion")]
    return [*told, words.say("ethics_deleted", day=words.day(survey.delete_on))]


def _notice(survey: Survey, language: str, words: Words) -> list[str]:
    """Controller, purpose, legal basis, rights (GDPR, Article 13), then the survey's own words."""
    who = ", ".join(filter(None, (_of_researcher(survey, key, language) for key in ("name", "institution"))))
    contact = survey.document.get("researcher", {}).get("contact")
    purpose = _text(survey, "description", language) or _text(survey, "title", language)
    told = [
        words.say("privacy_controller", who=who) if who else words.say("privacy_no_controller"),
        words.say("letter_ask", contact=contact) if contact else "",
        _of_researcher(survey, "ethics", language),
        words.say("privacy_purpose", purpose=purpose),
        words.say("privacy_basis"),
        words.say("privacy_rights"),
        *_text(survey, "notice", language).split("\n\n"),
    ]
    return [text for text in told if text]


def _text(survey: Survey, key: str, language: str) -> str:
    return survey.text(survey.document.get(key, {}), language)


def _of_researcher(survey: Survey, key: str, language: str) -> str:
    return survey.text(survey.document.get("researcher", {}).get(key, {}), language)
