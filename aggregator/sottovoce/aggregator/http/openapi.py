"""Describe the API in OpenAPI 3.1, from the table of routes and the schemas in ``sottovoce.shared``, and serve it.

A page for each problem code belongs to this documentation of the server.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, reduce
from importlib.resources import files
from typing import Any

from flask import Flask, Response, current_app
from sottovoce.aggregator.http import error_pages, problems
from sottovoce.aggregator.http.headers import unless_known
from sottovoce.aggregator.http.problem_docs import EXPLANATIONS
from sottovoce.aggregator.http.problems import CONTENT_TYPE, STATUS, TITLES
from sottovoce.aggregator.http.routing import Kind, Route
from sottovoce.aggregator.i18n import translator
from sottovoce.shared.release import release

NOT_DESCRIBED = {Kind.PAGE: "pages for people, and what belongs to them: no program has to call them"}
"""Kinds of routes that the description omits, with the reason."""

ABOUT = (
    "Devices need no key and send none; they may call from any origin. Researchers' programs send their key as "
    "`Authorization: Bearer KEY`. Reports, batches and withdrawals are canonical JSON: compact, with the keys in the "
    "order of their schema, padded as the survey says: if an answer could be written in two ways, the choice could "
    "tell one device, or one person, from another. Every error is a problem document (RFC 9457), whose `type` is "
    "the address of a page that explains it. Rate limits count requests of one network. Replies never show how much of "
    "a limit is left, because that would reveal whether other people of the network are answering."
)

EXAMPLES = {
    "survey-form": {
        "format": "sottovoce-survey/1",
        "name": "exams",
        "revision": 1,
        "default_language": "en",
        "title": {"en": "Exams"},
        "questions": [
            {
                "type": "boolean",
                "name": "cheated",
                "label": {"en": "Have you ever cheated in an exam?"},
                "mechanism": {"name": "coin_flip"},
            }
        ],
    }
}
"""Example bodies, for schemas whose rules depend on each other too much to guess a valid body."""

_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
_BRACES = re.compile(r"{(\w+)}")
_KEYWORDS = {"$defs", "properties", "items", "oneOf", "anyOf"}
_OWN = {"$id", "$schema", "$defs", "title"}
_IN_PATH = {
    "digest": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    "job": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
    "name": {"type": "string", "pattern": "^[a-z0-9][a-z0-9_-]{0,63}$"},
    "code": {"enum": list(STATUS)},
}

Object = dict[str, Any]

_ABOUT_FORM = (
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
    return form | {"description": _ABOUT_FORM}


def _of_type(rule: Object, asked: Object, question: Object) -> Object:
    """Return the schema of a question of one type; ``rule`` is the condition on its type and what holds then."""
    known = question["properties"] | asked["properties"] | rule["then"]["properties"] | rule["if"]["properties"]
    return {
        "type": "object",
        "properties": {key: part for key, part in known.items() if not isinstance(part, bool)},
        "required": [*question["required"], "type", *rule["then"]["required"]],
        "additionalProperties": False,
    }


def describe(routes: Sequence[Route]) -> Object:
    """Return the OpenAPI document of these routes, except kinds in ``NOT_DESCRIBED``."""
    shown = [route for route in routes if route.kind not in NOT_DESCRIBED]
    paths: dict[str, Object] = {}
    for route in shown:
        at = paths.setdefault(address(route), {})
        at[route.method.lower()] = _operation(route)
    for path, at in paths.items():
        at["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": _IN_PATH[name]} for name in _BRACES.findall(path)
        ]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sottovoce aggregator",
            "version": release(),
            "description": ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": kind.value} for kind in dict.fromkeys(route.kind for route in shown)],
        "paths": paths,
        "components": _components(shown),
    }


def address(route: Route) -> str:
    """Return a route's path in the notation of OpenAPI."""
    return _PARAMETER.sub(r"{\1}", route.path)


def _operation(route: Route) -> Object:
    operation: Object = {
        "operationId": route.endpoint,
        "summary": route.summary,
        "tags": [route.kind.value],
        "security": [{"key": []}] if route.kind is Kind.RESEARCHER else [],
        "responses": {str(status): _reply(route, status, holds) for status, holds in route.replies.items()},
    }
    if route.query:
        operation["parameters"] = [
            {"name": each.name, "in": "query", "description": each.about, "schema": dict(each.schema)}
            for each in route.query
        ]
    if route.body:
        example = {"example": EXAMPLES[route.body]} if route.body in EXAMPLES else {}
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _ref(route.body)} | example},
        }
    return operation


def _reply(route: Route, status: int, holds: Sequence[str]) -> Object:
    codes = [code for code in route.refusals if STATUS[code] == status]
    described: Object = {
        "description": "; or: ".join(f"{TITLES[code]} (`{code}`)" for code in codes)
        or {200: "Done.", 202: "It is being computed: ask again at `Location`.", 304: "It is what you have."}[status]
    }
    headers = {name: {"$ref": f"#/components/headers/{name}"} for name in _headers(route, status)}
    return described | ({"headers": headers} if headers else {}) | ({"content": _content(holds)} if holds else {})


def _headers(route: Route, status: int) -> list[str]:
    held = {
        "ETag": route.has_etag and status in {200, 304},
        "Retry-After": status in {202, STATUS["too_many"], STATUS["busy"]},
        "Location": status == 202,
        "RateLimit-Policy": route.limit,
        "RateLimit": route.limit and status == STATUS["too_many"],
        "WWW-Authenticate": status == STATUS["unauthorized"],
    }
    return [name for name, is_held in held.items() if is_held]


def _content(holds: Sequence[str]) -> Object:
    found: dict[str, list[Object]] = {}
    for name in holds:
        media, what = _media(name)
        found.setdefault(media, []).append(what)
    return {media: each[0] if len(each) == 1 else {"schema": {"oneOf": [one["schema"] for one in each]}}
            for media, each in found.items()}  # fmt: skip


def _media(name: str) -> tuple[str, Object]:
    if "/" in name:
        return name, {"schema": {"type": "string"}}
    return CONTENT_TYPE if name == "problem" else "application/json", {"schema": _ref(name)}


def _ref(name: str) -> Object:
    return {"$ref": f"#/components/schemas/{component(name)}"}


def _components(routes: Sequence[Route]) -> Object:
    names = {
        name for route in routes for name in (route.body, *route.gives, route.pending) if name and "/" not in name
    } | {"problem"}
    made = {route.body: route.body_schema for route in routes}
    text = {"schema": {"type": "string"}}
    return {
        "schemas": dict(sorted(part for name in names for part in schemas(name, made.get(name)).items())),
        "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "description": "A researcher's key."}},
        "headers": {
            "ETag": text | {"description": "Of these very bytes, for If-None-Match."},
            "Retry-After": {"schema": {"type": "integer"}, "description": "Seconds after which to ask again."},
            "Location": text | {"description": "Address to ask again."},
            "RateLimit-Policy": text | {"description": "The limits that such requests of one network count for."},
            "RateLimit": text | {"description": "The limit of which nothing is left; never what is left of one."},
            "WWW-Authenticate": text | {"description": "How to send a key."},
        },
    }


def component(name: str) -> str:
    """Return the name of a schema as a component: programs make classes of it."""
    return "".join(part.title() for part in re.split(r"\W|_", name.removesuffix("-form")))


def schemas(name: str, made: Mapping[str, Any] | None = None) -> dict[str, Object]:
    """Return a schema of ``sottovoce.shared``, the form of a survey or one that was ``made``, by its component's name.

    Each part that is referred to is a component of its own: programs that read OpenAPI follow no other reference.
    """
    if name in {"survey", "survey-form"}:
        name = "survey"
        whole = survey_form()
    elif made is not None:
        whole = dict(made)
    else:
        whole = json.loads(files("sottovoce.shared").joinpath(f"schema/{name}.schema.json").read_text(encoding="utf-8"))
    named: dict[str, Object] = {}
    top = whole.get("$ref", "#")

    def add(pointer: str) -> Object:
        keys = [] if pointer == "#" else pointer.removeprefix("#/").split("/")
        part = reduce(lambda inside, key: inside[int(key) if isinstance(inside, list) else key], keys, whole)
        kept = [] if pointer == top else [key for key in keys if key not in _KEYWORDS]
        title = component("-".join([name, *kept]))
        if title not in named:
            named[title] = {}
            own = {key: plain(inside, f"{pointer}/{key}") for key, inside in part.items() if key not in _OWN}
            named[title] = _for_programs({"title": title} | own)
        return {"$ref": f"#/components/schemas/{title}"}

    def plain(part: Any, pointer: str) -> Any:  # noqa: ANN401 - JSON
        if isinstance(part, list):
            objects = pointer.endswith("Of")
            return [
                add(f"{pointer}/{n}") if objects and "properties" in member else plain(member, f"{pointer}/{n}")
                for n, member in enumerate(part)
            ]
        if not isinstance(part, dict):
            return part
        if isinstance(part.get("$ref"), str):
            return part | add(part["$ref"])
        return _for_programs({key: plain(inside, f"{pointer}/{key}") for key, inside in part.items()})

    add(top)
    return named


def _for_programs(part: Object) -> Object:
    """Return the same condition in words that generators of programs can read."""
    if isinstance(part.get("const"), bool):
        part |= {"type": "boolean", "not": {"const": not part.pop("const")}}
    if "array" in part.get("type", ()):
        part.setdefault("items", {})
    return part


def openapi() -> Response:
    """Serve the OpenAPI description; the same bytes for every client."""
    return unless_known(Response(current_app.extensions["described_api"](), content_type="application/json"))


def problem(code: str) -> Response:
    """Show the page of a problem code, in English: what happened, who can act, and how."""
    explained = EXPLANATIONS.get(code)
    if explained is None:
        return problems.response("not_found")
    parts = (explained.happened, f"{explained.turn}: {explained.remedy}")
    page = error_pages.page_of(f"{explained.title} ({code}, {explained.status})", parts)
    return Response(page, headers=error_pages.headers(translator.LANGUAGES[0]))


def register(app: Flask, routes: tuple[Route, ...]) -> None:
    """Make the OpenAPI description of these routes."""
    app.extensions["described_api"] = cache(lambda: json.dumps(describe(routes), separators=(",", ":")).encode())


ROUTES = (
    Route("machine.openapi", "GET", "/openapi.json", openapi, "Return this OpenAPI description.", Kind.MACHINE,
          ("application/json",), has_etag=True),
    Route("front.problem", "GET", "/problems/<code>", problem, "Explain a problem code: what happened, and what to do.",
          Kind.MACHINE, ("text/html",), refuses=("not_found",)),
)  # fmt: skip
"""Routes of the documentation."""
