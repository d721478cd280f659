"""The parts of the JSON Schemas that follow from the registries: a branch for each mechanism, preset and type.

The rest of the files is written by hand, and ``tests.vectors.generate`` keeps it as it is.
"""

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from sottovoce.shared.mechanisms import ALIASES, MECHANISMS, PRESETS
from sottovoce.shared.mechanisms.base import Parameter
from sottovoce.shared.mechanisms.joint_rr import JointRR
from sottovoce.shared.parse_item import MATRIX_TYPES, NOTES
from sottovoce.shared.types import TYPES, QuestionType

Schema = dict[str, Any]


def survey_schema() -> Schema:
    """The schema of a survey file, its generated parts made anew."""
    schema = _read("survey")
    definitions = schema["$defs"]
    definitions["mechanism"]["oneOf"] = list(_mechanisms())
    epsilon = {"name": {"const": JointRR.name}, "epsilon": {"$ref": "#/$defs/number"}}
    definitions["joint"]["oneOf"] = [_object(epsilon, ["epsilon"]), _branch(JointRR.name, JointRR.parameters)]
    definitions["item"]["properties"]["type"]["enum"] = [*TYPES, *NOTES, "matrix"]
    definitions["item"]["allOf"][2]["if"]["properties"]["type"]["enum"] = [*TYPES]
    definitions["matrix"]["properties"]["of"]["properties"]["type"]["enum"] = [*MATRIX_TYPES]
    # A condition on a number names its bounds as the question does.
    bounds = [kind.keys["min"] for kind in TYPES.values() if "min" in kind.keys]
    different = [bound for index, bound in enumerate(bounds) if bound not in bounds[:index]]
    span = definitions["visible_if"]["additionalProperties"]["oneOf"][2]["properties"]
    span["min"] = span["max"] = {"anyOf": different}
    asked = definitions["asked"]
    treatment = {key: asked["properties"][key] for key in ("mechanism", "public", "when_absent", "absent_category")}
    asked["properties"] = {"type": {"enum": [*TYPES]}, **dict.fromkeys(_type_keys(), True), **treatment}
    asked["allOf"] = [*map(_type, TYPES.values()), {"not": {"required": ["when_absent", "absent_category"]}}]
    return schema


def export_schema() -> Schema:
    """The schema of an export, likewise."""
    schema = _read("export")
    question = schema["properties"]["questions"]["items"]
    question["properties"]["type"]["enum"] = [*TYPES]
    question["if"]["properties"]["type"]["enum"] = [name for name, kind in TYPES.items() if kind.truth == "number"]
    return schema


def _read(name: str) -> Schema:
    text = files("sottovoce.shared").joinpath("schema", f"{name}.schema.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def _type_keys() -> list[str]:
    """Every key that describes the true values of some type, once."""
    return [*dict.fromkeys(key for kind in TYPES.values() for key in kind.keys)]


def _type(kind: QuestionType) -> Schema:
    """What a question of this type must have, may have and cannot have."""
    properties = {key: kind.keys.get(key, False) for key in _type_keys()} | {"when_absent": kind.answer_schema}
    if not kind.may_be_public:
        properties["public"] = False
    if not kind.takes_category:
        properties |= {"absent_category": False, "cohort": False}
    return {
        "if": {"properties": {"type": {"const": kind.name}}},
        "then": {"properties": properties, "required": [*kind.required]},
    }


def _mechanisms() -> Iterator[Schema]:
    # An epsilon, alone or beside the name of a mechanism.
    yield _object({"name": {"enum": [*MECHANISMS, *ALIASES]}, "epsilon": {"$ref": "#/$defs/number"}}, ["epsilon"])
    for preset, name in PRESETS.items():
        yield _branch(preset, MECHANISMS[name].presets[preset])
    for name, mechanism in MECHANISMS.items():
        yield _branch(name, mechanism.parameters)


def _branch(name: str, parameters: Mapping[str, Parameter]) -> Schema:
    properties = {"name": {"const": name}, **{key: parameter.schema for key, parameter in parameters.items()}}
    return _object(properties, ["name", *(key for key, parameter in parameters.items() if parameter.required)])


def _object(properties: Schema, required: list[str]) -> Schema:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
