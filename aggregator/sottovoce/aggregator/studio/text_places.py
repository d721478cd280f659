"""Where each text of a survey stands, in words: nobody needs to know what a pointer into a document is."""

from itertools import pairwise

from sottovoce.aggregator.studio.words import Words
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


def _part(parts: list[str], words: Words) -> str:
    *lists, key = parts
    for name, number in pairwise(lists):
        if number.isdecimal():
            return words.say(f"place_{name}", number=int(number) + 1)
    return words.say(f"place_{key}")
