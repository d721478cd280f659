"""Form of a survey as OpenAPI describes it: one object for each type of question, without rules that join two keys."""

import json
from importlib.resources import files
from typing import Any

Object = dict[str, Any]

ABOUT = (
    "A survey as authors write it. Keys that exclude or need each other, the sizes of scales and the strength of "
    "mechanisms are checked when it is published; each mistake is named with its place."
)


def survey_form() -> Object:
    """Return the schema of a survey file, its questions listed by type and its conditional rules left out.

    Programs that read OpenAPI can neither show nor generate documents whose allowed keys depend on other keys, as in
    ``survey.schema.json``. Every survey that may be published fits this form.
    """
    text = files("sottovoce.shared").joinpath("schema/survey.schema.json").read_text(encoding="utf-8")
    form: Object = json.loads(text)
    for key in ("$id", "$schema", "dependentSchemas"):
        form.pop(key)
    own = form["$defs"]
    own["choices"] = own["named"] | {"minItems": 2, "maxItems": 1000}
    question, asked, matrix = own.pop("question"), own["asked"], own.pop("matrix")
    rules = [rule for rule in asked["allOf"] if "if" in rule]
    matrix = {key: part for key, part in matrix.items() if key not in {"if", "then"}}
    matrix["properties"] |= {"rows": own["named"] | {"minItems": 1, "maxItems": 50}, "of": {"$ref": "#/$defs/asked"}}
    own["item"] = {"oneOf": [*(_of_type(rule, asked, question) for rule in rules), matrix, {"$ref": "#/$defs/note"}]}
    own["asked"] = {"oneOf": [_of_type(rule, asked, {"properties": {}, "required": []}) for rule in rules]}
    own["entry"] = {"oneOf": [{"$ref": "#/$defs/item"}, {"$ref": "#/$defs/block"}]}
    own["block"]["properties"]["items"]["items"] = {"$ref": "#/$defs/item"}
    for rules_of_blocks in ("treated", "member"):
        own.pop(rules_of_blocks)
    return form | {"description": ABOUT}


def _of_type(rule: Object, asked: Object, question: Object) -> Object:
    """Return the schema of a question of one type.

    Args:
        rule: the condition on its type, and what holds then.
        asked: schema of all that depends on the type.
        question: schema of what every question has.
    """
    known = question["properties"] | asked["properties"] | rule["then"]["properties"] | rule["if"]["properties"]
    return {
        "type": "object",
        "properties": {key: part for key, part in known.items() if not isinstance(part, bool)},
        "required": [*question["required"], "type", *rule["then"]["required"]],
        "additionalProperties": False,
    }
