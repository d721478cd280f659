"""From a survey document to a ``Survey``; every mistake is found in one pass, with its JSON pointer."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, cast

from sottovoce.shared import canonical
from sottovoce.shared.errors import SpecError
from sottovoce.shared.mechanisms import MECHANISMS, PRESETS, Mechanism
from sottovoce.shared.reading import LANGUAGE, MISSING, Reader
from sottovoce.shared.spec import BOOLEAN_OPTIONS, FORMAT, Choice, Question, Survey

MAX_QUESTIONS = 200
MAX_CHOICES = 1000
QUESTION_TYPES = ("boolean", "select_one")

_SURVEY_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_NAME = re.compile(r"[a-z0-9][a-z0-9_]{0,63}")
_EPSILON = re.compile(r"(0|[1-9][0-9]?)(\.[0-9]{1,6})?")

_SURVEY_REQUIRED = {"format", "name", "revision", "default_language", "title", "questions"}
_TEXTS = ("title", "description", "consent")
_SURVEY_OPTIONAL = {"description", "consent", "opens", "closes", "access", "privacy", "retention"}
_QUESTION_REQUIRED = {"type", "name", "label"}
_QUESTION_OPTIONAL = {"hint", "choices", "mechanism", "public", "cohort"}


def parse_survey(document: object) -> Survey:
    """
    The survey that a document (already read from YAML or JSON) describes.

    Shorthand is expanded and defaults are written out, so that two files that mean the same have one digest.

    Raises:
        SpecError: with every mistake found, each with its JSON pointer; no submitted value is repeated.
    """
    reader = _SurveyReader()
    survey = reader.survey(document)
    if survey is None or reader.problems:
        raise SpecError(reader.problems)
    return survey


def load_survey(body: bytes) -> Survey:
    """
    The survey in its canonical bytes, as an aggregator serves them.

    Raises:
        SpecError: not a survey, or not in canonical form.
    """
    try:
        survey = parse_survey(canonical.load(body))
    except ValueError as error:
        raise SpecError(f"the survey {error}") from None
    if survey.canonical != body:
        raise SpecError("the survey is not in canonical form")
    return survey


class _SurveyReader(Reader):
    """Reads the survey and its parts."""

    def survey(self, document: object) -> Survey | None:
        try:
            canonical.check_tree(document)
        except ValueError as error:
            self.problem("", str(error))
            return None
        fields = self.fields(document, "", _SURVEY_REQUIRED, _SURVEY_OPTIONAL)
        self.one_of(fields.get("format", FORMAT), "/format", (FORMAT,))
        self.default_language = self.match(fields.get("default_language", MISSING), "/default_language", LANGUAGE)
        privacy = self.privacy(fields.get("privacy", {}))
        retention = self.fields(fields.get("retention", {}), "/retention", set(), {"ids_days"})
        opens, closes = (self.moment(fields.get(key), f"/{key}") for key in ("opens", "closes"))
        if opens and closes and opens >= closes:
            self.problem("/closes", "must be later than opens")
        questions = self.questions(fields.get("questions", []))
        texts = {key: self.text_map(fields[key], f"/{key}") for key in _TEXTS if key in fields}
        canonical_document: dict[str, Any] = {
            "format": FORMAT,
            "name": self.match(fields.get("name", MISSING), "/name", _SURVEY_NAME),
            "revision": self.integer(fields.get("revision", 1), "/revision", 1, 10**6),
            "default_language": self.default_language,
            **texts,
            **{key: fields[key] for key in ("opens", "closes") if key in fields},
            "access": self.one_of(fields.get("access", "open"), "/access", ("open",)),
            "privacy": privacy,
            "retention": {"ids_days": self.integer(retention.get("ids_days", 30), "/retention/ids_days", 0, 3650)},
            "questions": [_dump_question(question) for question in questions],
        }
        if self.problems:
            return None
        survey = Survey(
            document=canonical_document,
            name=canonical_document["name"],
            revision=canonical_document["revision"],
            default_language=self.default_language,
            title=texts["title"],
            opens=opens,
            closes=closes,
            release_batch=privacy["release_batch"],
            ids_days=canonical_document["retention"]["ids_days"],
            questions=tuple(questions),
        )
        if Decimal(survey.epsilon) > Decimal(privacy.get("max_epsilon_total", "Infinity")):
            self.problem("/privacy/max_epsilon_total", "is less than the questions spend together")
        return survey

    def privacy(self, value: object) -> dict[str, Any]:
        pointer = "/privacy"
        fields = self.fields(value, pointer, set(), {"max_epsilon_total", "procedure", "release_batch"})
        result = {
            "procedure": self.one_of(fields.get("procedure", "device"), f"{pointer}/procedure", ("device",)),
            "release_batch": self.integer(fields.get("release_batch", 25), f"{pointer}/release_batch", 1, 10**6),
        }
        if "max_epsilon_total" in fields:
            message = 'must be a decimal written as a string, such as "4.5"'
            place = f"{pointer}/max_epsilon_total"
            result["max_epsilon_total"] = self.match(fields["max_epsilon_total"], place, _EPSILON, message)
        return result

    def questions(self, value: object) -> list[Question]:
        items = self.items(value, "/questions", 1, MAX_QUESTIONS)
        questions = [self.question(item, f"/questions/{index}") for index, item in enumerate(items)]
        self.unique([question.name for question in questions], "/questions", "name")
        for index in [i for i, question in enumerate(questions) if question.cohort][1:]:
            self.problem(f"/questions/{index}/cohort", "only one question may be the cohort")
        return questions

    def question(self, value: object, pointer: str) -> Question:
        fields = self.fields(value, pointer, _QUESTION_REQUIRED, _QUESTION_OPTIONAL)
        kind = self.one_of(fields.get("type", "boolean"), f"{pointer}/type", QUESTION_TYPES)
        choices = self.choices(fields, kind, pointer)
        inputs = len(BOOLEAN_OPTIONS) if kind == "boolean" else len(choices)
        return Question(
            name=self.match(fields.get("name", MISSING), f"{pointer}/name", _NAME),
            type=kind,
            label=self.text_map(fields.get("label", MISSING), f"{pointer}/label"),
            hint=self.text_map(fields["hint"], f"{pointer}/hint") if "hint" in fields else {},
            choices=choices,
            mechanism=self.treatment(fields, kind, inputs, pointer),
            cohort=self.cohort(fields, pointer),
        )

    def choices(self, fields: Mapping[str, Any], kind: str, pointer: str) -> tuple[Choice, ...]:
        if kind == "boolean":
            if "choices" in fields:
                self.problem(f"{pointer}/choices", "a boolean question has no choices")
            return ()
        if "choices" not in fields:
            self.problem(f"{pointer}/choices", "is missing")
            return ()
        pointer = f"{pointer}/choices"
        choices = []
        for index, item in enumerate(self.items(fields["choices"], pointer, 2, MAX_CHOICES)):
            place = f"{pointer}/{index}"
            choice = self.fields(item, place, {"name", "label"}, set())
            name = self.match(choice.get("name", MISSING), f"{place}/name", _NAME)
            label = self.text_map(choice.get("label", MISSING), f"{place}/label")
            choices.append(Choice(name, label))
        self.unique([choice.name for choice in choices], pointer, "name")
        return tuple(choices)

    def treatment(self, fields: Mapping[str, Any], kind: str, inputs: int, pointer: str) -> Mechanism | None:
        """The mechanism, or None for a public question; exactly one of the two must be named."""
        if "public" in fields:
            if fields["public"] is not True:
                self.problem(f"{pointer}/public", "must be true, or left out")
            if "mechanism" in fields:
                self.problem(f"{pointer}/public", "a public question has no mechanism")
            return None
        if "mechanism" not in fields:
            self.problem(pointer, "must name a mechanism or say public: true")
            return None
        return self.mechanism(fields["mechanism"], kind, inputs, f"{pointer}/mechanism")

    def mechanism(self, value: object, kind: str, inputs: int, pointer: str) -> Mechanism | None:
        name = value.get("name") if isinstance(value, dict) else None
        if not isinstance(name, str) or name not in {*MECHANISMS, *PRESETS}:
            self.problem(pointer, f"must be a map whose name is one of: {', '.join((*MECHANISMS, *PRESETS))}")
            return None
        mechanism = MECHANISMS[PRESETS.get(name, name)]
        if kind not in mechanism.question_types:
            self.problem(pointer, "this mechanism does not serve this type of question")
            return None
        try:
            return mechanism.parse(cast("dict[str, Any]", value), inputs)
        except ValueError as error:
            self.problem(pointer, str(error))
            return None

    def cohort(self, fields: Mapping[str, Any], pointer: str) -> bool:
        if "cohort" not in fields:
            return False
        if fields["cohort"] is not True:
            self.problem(f"{pointer}/cohort", "must be true, or left out")
        elif "public" not in fields:
            self.problem(f"{pointer}/cohort", "only a public question may be the cohort")
        return True


def _dump_question(question: Question) -> dict[str, Any]:
    document: dict[str, Any] = {"type": question.type, "name": question.name, "label": question.label}
    if question.hint:
        document["hint"] = question.hint
    if question.choices:
        document["choices"] = [{"name": choice.name, "label": choice.label} for choice in question.choices]
    if question.mechanism is None:
        document["public"] = True
    else:
        document["mechanism"] = question.mechanism.dump()
    if question.cohort:
        document["cohort"] = True
    return document
