"""Where each text of a survey stands, in words: nobody needs to know what a pointer into a document is."""

from collections.abc import Sequence
from itertools import pairwise

from sottovoce.aggregator.i18n.translator import Words
from sottovoce.shared.languages import languages_of, texts_of
from sottovoce.shared.spec import Survey


def place_in_words(survey: Survey, pointer: str, words: Words) -> str:
    """
    The place of a text: its part of the survey, or the question's number, its part and the option's number.

    Args:
        survey: whose text it is.
        pointer: to the text in the survey's document.
        words: the reader's language.
    """
    first, *inside = pointer.strip("/").split("/")
    if first != "questions":
        return words.say(f"place_{'_'.join([first, *inside])}")
    number, *parts = inside
    *before, item = survey.document["questions"][: int(number) + 1]
    asked = sum(each["type"] != "note" for each in before)
    told = words.say("place_note") if item["type"] == "note" else words.say("place_question", number=asked + 1)
    return words.say("place_within", place=told, part=_part(parts, words))


def texts_in_words(survey: Survey, words: Words) -> Sequence[tuple[str, Sequence[tuple[str, str]]]]:
    """
    By language, the place of each text of a survey in words and the text; "" where a language lacks it.

    Args:
        survey: whose texts they are.
        words: the reader's language.
    """
    texts = [(place_in_words(survey, pointer, words), written) for pointer, written in texts_of(survey).items()]
    return [(tag, [(place, written.get(tag, "")) for place, written in texts]) for tag in languages_of(survey)]


def _part(parts: list[str], words: Words) -> str:
    *lists, key = parts
    for name, number in pairwise(lists):
        if number.isdecimal():
            return words.say(f"place_{name}", number=int(number) + 1)
    return words.say(f"place_{key}")
