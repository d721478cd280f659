"""
The parts of ``survey.schema.json`` that follow from the registries: one branch for each mechanism and preset.

The rest of the file is written by hand, and ``tests.vectors.generate`` keeps it as it is.
"""

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from sottovoce.shared.mechanisms import MECHANISMS, PRESETS
from sottovoce.shared.mechanisms.parameters import Parameter

Schema = dict[str, Any]


def survey_schema() -> Schema:
    """The schema of a survey file, its generated parts made anew."""
    text = files("sottovoce.shared").joinpath("schema", "survey.schema.json").read_text(encoding="utf-8")
    schema: Schema = json.loads(text)
    schema["$defs"]["mechanism"]["oneOf"] = list(_mechanisms())
    return schema


def _mechanisms() -> Iterator[Schema]:
    # An epsilon, alone or beside the name of a mechanism.
    yield _object({"name": {"enum": [*MECHANISMS]}, "epsilon": {"$ref": "#/$defs/number"}}, ["epsilon"])
    for preset, name in PRESETS.items():
        yield _branch(preset, MECHANISMS[name].presets[preset])
    for name, mechanism in MECHANISMS.items():
        yield _branch(name, mechanism.parameters)


def _branch(name: str, parameters: Mapping[str, Parameter]) -> Schema:
    properties = {"name": {"const": name}, **{key: parameter.schema for key, parameter in parameters.items()}}
    return _object(properties, ["name", *(key for key, parameter in parameters.items() if parameter.required)])


def _object(properties: Schema, required: list[str]) -> Schema:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
