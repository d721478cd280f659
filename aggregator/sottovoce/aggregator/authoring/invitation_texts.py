"""Write texts generated from a survey: the invitation, the reminder, and the statement for an ethics board.

The result is plain text with an empty line between paragraphs. The survey's own texts are in the requested language,
else in the survey's default language. The sentences around them are in the requested language or a related one that the
studio has, else in English.
"""

import csv
import io
from collections.abc import Iterable, Sequence

from sottovoce.aggregator.analysis.mixtures.mixture import designs_in_words
from sottovoce.aggregator.export.flow_chart import asked_how, direct_sentences
from sottovoce.aggregator.file_formats.csv_cells import harmless
from sottovoce.aggregator.i18n.translator import Words, only_here, words_for
from sottovoce.aggregator.planning.question_channels import ShareChannel, measure_of
from sottovoce.aggregator.planning.traffic_analysis import blind_limits, items_that_show_time
from sottovoce.shared.accounting import percent_after
from sottovoce.shared.by_hand.protection import LETTERS, protection_by
from sottovoce.shared.spec import Question, Survey

_LIMITS = ("seen", "time", "device", "twice", "page", "group")


def letter(survey: Survey, link: str, language: str, institution: str = "") -> str:
    """Return the invitation with a link, with personal links the reader's own.

    ``language`` is one of the survey's; ``institution`` is for a survey that names none itself.
    """
    words, who = words_for(language), _who(survey, language, institution)
    paragraphs = [
        only_here(link, words),
        words.translate("letter_hello"),
        words.translate("letter_invite", title=_text(survey, "title", language)),
        _text(survey, "description", language),
        words.translate("letter_who", who=who) if who else "",
        *_protection(survey, words),
        *_seen(survey, words),
        words.translate("letter_voluntary"),
        *_answering(survey, link, words),
    ]
    return _paragraphs(paragraphs)


def reminder(survey: Survey, link: str, language: str) -> str:
    """Return the reminder, which goes to all invited people because the researcher does not know who has answered."""
    words = words_for(language)
    paragraphs = [
        only_here(link, words),
        words.translate("letter_hello"),
        words.translate(
            "reminder_wait" if survey.send_within_hours or survey.send_at_seconds else "reminder_text",
            title=_text(survey, "title", language),
        ),
        words.translate("letter_voluntary"),
        *_answering(survey, link, words),
    ]
    return _paragraphs(paragraphs)


def mail_merge(survey: Survey, links: Iterable[str], language: str, institution: str = "") -> str:
    """Return a CSV for mail merge: per personal link, subject, invitation and reminder, and without names."""
    subject = _text(survey, "title", language)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(("link", "subject", "letter", "reminder"))
    for link in links:
        row = (link, subject, letter(survey, link, language, institution), reminder(survey, link, language))
        writer.writerow([harmless(cell) for cell in row])
    return file.getvalue()


def ethics(survey: Survey, language: str) -> str:
    """Return the statement for an ethics board: purpose, method, protection of each question, storage, and limits."""
    words = words_for(language)
    declining = all(survey.questions[index].domain.absent for index in survey.private)
    sentence = words.translate("ethics_decline" if declining else "ethics_no_decline") if survey.private else ""
    method = f"ethics_{protection_by(survey)}" if survey.private else "letter_unprotected"
    named = (*_LIMITS, *(("token",) if survey.asks_for_token else ()), *blind_limits(survey))
    paragraphs = [
        words.translate("trial") if survey.trial else "",
        words.translate("ethics_title", title=_text(survey, "title", language)),
        *_part(words, "ethics_purpose", [_text(survey, "description", language), *_asker(survey, words, language)]),
        *_part(words, "ethics_method", [words.translate(method)]),
        *_part(words, "page_questions", _questions(survey, words, language)),
        *_part(words, "ethics_kept", _storage(survey, words)),
        *_part(words, "ethics_taking_part", [words.translate("ethics_voluntary"), sentence]),
        *_part(words, "ethics_consent", [_text(survey, "consent", language)]),
        *_part(words, "ethics_notice", [_text(survey, "notice", language)]),
        *_part(words, "ethics_limits", [f"- {words.translate(f'ethics_limit_{name}')}" for name in named]),
        *_version(survey, words),
    ]
    return _paragraphs(paragraphs)


def _text(survey: Survey, key: str, language: str) -> str:
    return survey.text(survey.document.get(key, {}), language)


def _researcher(survey: Survey, key: str, language: str) -> str:
    return survey.text(survey.document.get("researcher", {}).get(key, {}), language)


def _who(survey: Survey, language: str, institution: str = "") -> str:
    """Return the researcher's name and institution, by default the given one; "" if there is neither."""
    name, own = (_researcher(survey, key, language) for key in ("name", "institution"))
    return ", ".join(filter(None, (name, own or institution)))


def _contact(survey: Survey, words: Words) -> str:
    contact = survey.document.get("researcher", {}).get("contact")
    return words.translate("letter_ask", contact=contact) if contact else ""


def _protection(survey: Survey, words: Words) -> list[str]:
    if not survey.private:
        return [words.translate("letter_unprotected")]
    return [
        words.translate(LETTERS[protection_by(survey)]),
        _odds(max((survey.questions[index] for index in survey.private), key=lambda asked: asked.epsilon), words),
        words.translate("letter_belief", after=percent_after(survey.epsilon)),
        words.translate("letter_public") if any(chance < total for chance, total in survey.groups) else "",
        words.translate("letter_arms") if len(survey.groups) > 1 else "",
    ]


def _odds(asked: Question, words: Words) -> str:
    """Return a sentence on how many of 100 people report yes, for each true answer; "" for others.

    For those the sentence on beliefs alone describes the protection.
    """
    is_crosswise = asked.by_fact and asked.by_fact.is_crosswise
    if asked.kind.truth != "yes_no" or is_crosswise or not isinstance(measure := measure_of(asked), ShareChannel):
        return ""
    # Near 0 and 100 with two decimals, so that it does not look certain.
    yes, no = (words.number(100 * share, 0 if 0.005 <= share <= 0.995 else 2) for share in (measure.a, measure.b))
    return words.translate("letter_odds", yes=yes, no=no)


def _seen(survey: Survey, words: Words) -> list[str]:
    if not survey.is_blind:
        return [words.translate("letter_seen"), words.translate("letter_time") if items_that_show_time(survey) else ""]
    now = words.translate("letter_seen_blind_now") if "blind_now" in blind_limits(survey) else ""
    return [words.translate("letter_seen_blind"), now]


def _answering(survey: Survey, link: str, words: Words) -> list[str]:
    hours = survey.send_within_hours
    waits = words.translate("letter_wait", hours=hours) if hours else ""
    if survey.send_at_seconds:
        waits = words.translate("letter_moment", seconds=survey.send_at_seconds)
    dates = [("letter_opens", survey.opens), ("letter_until", survey.closes)]
    return [
        f"{words.translate(_link_sentence_key(survey))}\n{link}",
        waits,
        *[words.translate(key, moment=words.moment(moment)) for key, moment in dates if moment],
        _contact(survey, words),
    ]


def _link_sentence_key(survey: Survey) -> str:
    if survey.is_blind:
        return "letter_invitation_waves" if len(survey.waves) > 1 else "letter_invitation"
    return "letter_personal" if survey.asks_for_token else "letter_link"


def _asker(survey: Survey, words: Words, language: str) -> list[str]:
    who = _who(survey, language)
    sentence = words.translate("letter_who", who=who) if who else ""
    return [sentence, _researcher(survey, "ethics", language), _contact(survey, words)]


def _questions(survey: Survey, words: Words, language: str) -> list[str]:
    sentences = [_question(survey, asked, words, language) for item in survey.items for asked in item.questions]
    if survey.arms:
        sentences += [words.translate("ethics_arms", arms=len(survey.arms)), *direct_sentences(survey, words, language)]
    arms = {asked.name: ", ".join(item.arms) for item in survey.items for asked in item.questions}
    sentences += designs_in_words(survey, words, named=arms.__getitem__)
    if survey.ask is not None:
        sentences.append(words.translate("ethics_ask", private=max(map(len, survey.units_by_arm)), asked=survey.ask))
    drawn = [block for block in survey.blocks if block.mechanism.ask]
    sentences += [
        words.translate("ethics_ask", private=len(each.questions), asked=each.mechanism.asked) for each in drawn
    ]
    if survey.private:
        spent = words.write.epsilon(survey.epsilon)
        sentences.append(words.translate("ethics_report", epsilon=spent, after=percent_after(survey.epsilon)))
    if survey.private and len(survey.waves) > 1:
        total = survey.epsilon_of_memo + len(survey.waves) * survey.epsilon_of_wave
        sentences.append(words.translate("ethics_waves", waves=len(survey.waves), epsilon=words.write.epsilon(total)))
    return sentences


def _question(survey: Survey, question: Question, words: Words, language: str) -> str:
    label, how = survey.text(question.label, language), asked_how(survey, question, words, language)
    key = "fact" if question.by_fact else "private" if question.mechanism else "public"
    spent, after = words.write.epsilon(question.epsilon), percent_after(question.epsilon)
    about = words.translate(f"ethics_{key}_question", label=label, epsilon=spent, after=after)
    return f"- {words.translate('gap').join([about, *how])}"


def _storage(survey: Survey, words: Words) -> list[str]:
    return [
        words.translate("ethics_kept_text"),
        words.translate("ethics_ids", days=survey.ids_days),
        words.translate("privacy_stored_token") if survey.asks_for_token else "",
        words.translate("privacy_stored_blind") if survey.is_blind else "",
        words.translate("privacy_stored_wait", hours=survey.send_within_hours) if survey.send_within_hours else "",
        words.translate("privacy_stored_moment", seconds=survey.send_at_seconds) if survey.send_at_seconds else "",
        words.translate("ethics_deleted", day=words.day(survey.delete_on)) if survey.delete_on else "",
        words.translate("ethics_steps", batch=survey.release_batch),
    ]


def _version(survey: Survey, words: Words) -> list[str]:
    name, revision = survey.name, str(survey.revision)
    if survey.lacks_keys:
        return [
            words.translate("privacy_version", name=name, revision=revision),
            words.translate("publish_digest_later"),
        ]
    return [words.translate("ethics_version", name=name, revision=revision, digest=survey.digest)]


def _part(words: Words, heading: str, paragraphs: Sequence[str]) -> list[str]:
    """Return a heading in capitals and its paragraphs; empty if all paragraphs are empty."""
    return [words.translate(heading).upper(), *paragraphs] if any(paragraphs) else []


def _paragraphs(paragraphs: Iterable[str]) -> str:
    return "\n\n".join(text for text in paragraphs if text) + "\n"
