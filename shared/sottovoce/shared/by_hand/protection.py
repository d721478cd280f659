"""Say what hides answers that respondents hide themselves, so that the device sends them as they are."""

from sottovoce.shared.spec import Question, Survey

LETTERS = {"toss": "letter_toss", "fact": "letter_fact", "device": "letter_dice"}
"""Keys of the sentence for respondents about what hides their answers, by ``protection_by``."""


def is_by_hand(survey: Survey, question: Question) -> bool:
    """Return True if this private question's answer is hidden by the person's own coin, die or fact."""
    return bool(question.by_fact) or (survey.own_coin and question.mechanism is not None)


def drawn_by_device(survey: Survey) -> list[Question]:
    """Return the questions whose reports the device draws."""
    return [each for each in survey.questions if each.mechanism is not None and not is_by_hand(survey, each)]


def hidden_by_facts(survey: Survey) -> list[Question]:
    """Return the questions that a fact of the person's own hides."""
    return [each for each in survey.questions if each.by_fact]


def protection_by(survey: Survey) -> str:
    """Return what hides the private answers: ``toss``, ``fact`` (of some or all answers) or ``device``."""
    return "toss" if survey.own_coin else "fact" if hidden_by_facts(survey) else "device"


def is_all_by_hand(survey: Survey) -> bool:
    """Return True if the survey has private questions and the device draws none of their reports."""
    return bool(survey.private) and not drawn_by_device(survey)
