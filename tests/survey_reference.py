"""Makes ``docs/survey_file.md`` of the JSON Schema and its own examples: ``python -m tests.survey_reference``."""

import json
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "survey_file.md"
SCHEMA: dict[str, Any] = json.loads(
    files("sottovoce.shared").joinpath("schema/survey.schema.json").read_text(encoding="utf-8")
)

HEAD = """# The survey file, key by key

The examples are written here; the rest `python -m tests.survey_reference` writes from `survey.schema.json`, which has
the exact rules. Each example is a part of a whole survey that `sottovoce lint` finds good.
How to choose among question types and mechanisms: [questions and mechanisms](questions_and_mechanisms.md).
"""

ITEMS = "\n## Items of `questions`\n"
EXAMPLE = re.compile(r"### `([^`]+)`\n.*?```yaml\n(.*?)```", re.DOTALL)
"""Name and example of a section."""


def survey_keys() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each key of a survey, those within a map after it with a dot, and its schema."""
    for name, found in SCHEMA["properties"].items():
        yield name, found
        for inner, rule in (found.get("properties") or found.get("items", {}).get("properties", {})).items():
            yield f"{name}.{inner}", rule


def question_keys() -> dict[str, Mapping[str, Any]]:
    """Each key that an item of a survey may have, and its schema."""
    found: dict[str, Mapping[str, Any]] = {}
    for name in ("question", "asked", "note", "matrix", "block"):
        _collect(SCHEMA["$defs"][name], found)
    return found


def _collect(part: Mapping[str, Any], found: dict[str, Mapping[str, Any]]) -> None:
    """The keys of a part of the schema and of what it is put together from, but not of what stands under a key."""
    for name, rule in part.get("properties", {}).items():
        # Some parts name a key only to say that it must not be there, or must be one word.
        if isinstance(rule, dict) and (name not in found or len(rule) > len(found[name])):
            found[name] = rule
    for inner in [*part.get("allOf", []), *part.get("oneOf", []), part.get("then", {}), part.get("else", {})]:
        if isinstance(inner, dict) and inner:
            _collect(inner, found)


def rule_in_words(rule: Mapping[str, Any]) -> str:
    """What a key's value must be."""
    said = [rule["description"]] if "description" in rule else []
    if rule.get("$ref", "").endswith("/texts"):
        said.append("A map from language tags to texts.")
    words = rule.get("enum") or next((each["enum"] for each in rule.get("oneOf", []) if "enum" in each), None)
    if words:
        said.append(f"One of {', '.join(f'`{word}`' for word in words)}.")
    if "const" in rule:
        said.append(f"Only `{json.dumps(rule['const']).strip(chr(34))}`.")
    if rule.get("type") == "integer" and "minimum" in rule:
        said.append(f"A whole number from {rule['minimum']} to {rule['maximum']}.")
    if "pattern" in rule:
        said.append(f"Text of the form `{rule['pattern']}`.")
    return " ".join(said)


def page() -> str:
    of_survey, of_items = (dict(EXAMPLE.findall(part)) for part in PAGE.read_text(encoding="utf-8").split(ITEMS))
    parts = [HEAD, "\n## The survey\n"]
    parts += [_section(name, rule, name in SCHEMA["required"], of_survey) for name, rule in survey_keys()]
    parts.append(ITEMS)
    parts += [
        _section(name, rule, name in ("type", "name", "label"), of_items) for name, rule in question_keys().items()
    ]
    parts.append("\nNext: [problems, code by code](problems.md).\n")
    return "".join(parts)


def _section(name: str, rule: Mapping[str, Any], required: bool, examples: Mapping[str, str]) -> str:
    # A key of the survey that is true or left out, and needs no other, has its example by itself.
    example = examples.get(name, f"{name}: true")
    words = " ".join(filter(None, ["Must be there." if required else "", rule_in_words(rule)]))
    return f"\n### `{name}`\n\n{words}{chr(10) * 2 if words else ''}```yaml\n{example.rstrip()}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
