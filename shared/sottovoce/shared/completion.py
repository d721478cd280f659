"""Parse ``after``, which goes with the receipt: a text, a link, or links by the label of a panel; and what stands in
their place for people whom the survey is not for, by answers to public questions.

    after:
      link: "https://panel.example/complete?c=C1"
      screen_out:
        when: {student: "no"}
        link: "https://panel.example/screened-out?c=S1"

Only a public question can be named, whose answer is sent as it is given: a link by a private answer would give that
answer to the people who run the linked page. The choice is a function of the sent values alone.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sottovoce.shared.arms.arms import Arm
from sottovoce.shared.parse_item import ItemReader, dump_condition, texts_by_arm
from sottovoce.shared.spec import Item, Survey
from sottovoce.shared.visibility import is_shown

MAX_LINKS = 5
LINK = re.compile(r"https://[a-z0-9.-]{1,253}(:[0-9]{1,5})?(/[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]{0,1000})?")
_LABEL = re.compile(r"[a-z0-9_-]{1,32}")
_PRIVATE = "can name public questions only: a link by a private answer would give that answer away"
_MAP = "must be a map from names of public questions to what their answers must be"


def read_after(reader: ItemReader, value: object, items: Sequence[Item], arms: Sequence[Arm]) -> dict[str, Any]:
    """Parse ``after``, with the texts that arms may have of their own; mistakes are noted in the reader."""
    fields = reader.fields(value, "/after", set(), {"text", "by_arm", "link", "links", "screen_out"})
    result = _texts_and_links(reader, fields, "/after") if isinstance(value, dict) else {}
    if "by_arm" in fields:
        result["by_arm"] = texts_by_arm(reader, fields["by_arm"], arms)
    if "screen_out" in fields:
        pointer = "/after/screen_out"
        other = reader.fields(fields["screen_out"], pointer, {"when"}, {"text", "link", "links"})
        result["screen_out"] = _texts_and_links(reader, other, pointer)
        result["screen_out"]["when"] = _read_when(reader, other["when"], items) if "when" in other else {}
    return result


def _texts_and_links(reader: ItemReader, fields: Mapping[str, Any], pointer: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    if not fields.keys() - {"when", "screen_out"}:
        reader.problem(pointer, "must have a text, a link, or both")
    if "text" in fields:
        result["text"] = reader.text_map(fields["text"], f"{pointer}/text")
    message = "must be an address that begins with https, the same for everybody"
    if "link" in fields:
        result["link"] = reader.match(fields["link"], f"{pointer}/link", LINK, message)
    if "links" in fields:
        result["links"] = _links(reader, fields["links"], f"{pointer}/links", message)
    return result


def _links(reader: ItemReader, value: object, pointer: str, message: str) -> dict[str, str]:
    """Parse up to five links, by labels that respondents' links carry as ``&from=LABEL``."""
    found = value if isinstance(value, dict) else {}
    labels = [label for label in found if isinstance(label, str) and _LABEL.fullmatch(label)]
    if not 1 <= len(labels) == len(found) <= MAX_LINKS:
        reader.problem(pointer, "must have one to five labels, each of up to 32 of a-z, 0-9, - and _")
    return {label: reader.match(found[label], f"{pointer}/{label}", LINK, message) for label in labels}


def _read_when(reader: ItemReader, when: object, items: Sequence[Item]) -> dict[str, Any]:
    """Parse conditions on public questions, a map as ``visible_if`` has it."""
    pointer = "/after/screen_out/when"
    questions = {question.name: question for item in items for question in item.questions}
    if not isinstance(when, dict) or not when:
        reader.problem(pointer, _MAP)
        return {}
    found: dict[str, Any] = {}
    for name, wanted in when.items():
        asked = questions.get(name)
        if asked is None or not asked.kind.single:
            reader.problem(f"{pointer}/{name}", _MAP)
        elif asked.mechanism is not None:
            reader.problem(f"{pointer}/{name}", _PRIVATE)
        else:
            found[name] = dump_condition(reader.condition(asked, wanted, f"{pointer}/{name}"), asked)
    return found


def ending(survey: Survey, values: Sequence[int | None]) -> Mapping[str, Any]:
    """Return the text and the links that go with the receipt of a report with these values."""
    after: Mapping[str, Any] = survey.document.get("after", {})
    own = after["by_arm"].get(survey.arms[values[-1] or 0].name) if "by_arm" in after else None
    if own:
        after = {**after, "text": own}
    if "screen_out" not in after:
        return after
    # Private values are not even looked at.
    public = [(asked, value) for asked, value in zip(survey.questions, values, strict=True) if asked.mechanism is None]
    given = {asked.name: value for asked, value in public if value is not None}
    reader = ItemReader()
    wanted = after["screen_out"]["when"]
    conditions = [reader.condition(asked, wanted[asked.name], "") for asked, _ in public if asked.name in wanted]
    return after["screen_out"] if is_shown(conditions, (), given) else after
