"""Begin a draft from a template, a copy or a file, or an empty one, on the page "New survey"."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from flask import Response, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.authoring.draft import SurveyDraft, empty_draft
from sottovoce.aggregator.authoring.templates import all_templates, items_of
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.authoring.validation import problems_of
from sottovoce.aggregator.authoring.xlsform import read_xlsform
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.studio import drafts
from sottovoce.aggregator.studio.design.sentences import Sentences
from sottovoce.aggregator.studio.request_context import words
from sottovoce.aggregator.surveys.lifecycle import survey_of
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.shared.errors import Problem, SpecError
from sottovoce.shared.parse_survey import parse_survey

REFUSED = 422
LONGEST_TITLE = 400

WORKBOOK = b"PK"
"""First bytes of a spreadsheet (.xlsx), which is a zip archive."""


_ANY_NAME = "survey"


class Begun(NamedTuple):
    """First version of a new draft, and messages about parts of a file that could not be imported."""

    draft: SurveyDraft
    left_out: Sequence[str] = ()


def new(refused: str = "") -> str:
    """Show the ways to begin a survey."""
    found = {row.name: survey_of(row.document).title for row in storage().surveys()}
    mine = {each.name: SurveyDraft.read(each.document).title_in(words().language) for each in storage().drafts.drafts()}
    published = {name: words().text(title, next(iter(title))) for name, title in found.items()}
    # Leave out surveys without a role for the reader: the list must not reveal that they exist.
    return render_template(
        "new.html",
        templates=[(each, *items_of(each)) for each in all_templates()],
        sentences=Sentences(words()),
        copies={name: title for name, title in (published | mine).items() if g.actor.role(name)},
        refused=refused,
    )


def begin() -> ResponseReturnValue:
    """Begin a draft in the chosen way."""
    make = _WAYS.get(request.form.get("from", ""), _empty)
    try:
        begun = make()
    except SpecError as error:
        return _refuse(words().in_this_language(error.problems[0].message))
    if begun is None:
        return _refuse(words().translate("new_nothing"))
    name = drafts.begin(begun.draft, request.form.get("name", ""))
    if begun.left_out:
        return render_template("left_out.html", name=name, left_out=begun.left_out)
    return redirect(url_for("studio.design", name=name), 303)


def _refuse(message: str) -> Response:
    return Response(new(message), REFUSED)


def _empty() -> Begun | None:
    title = " ".join(request.form.get("title", "").split())[:LONGEST_TITLE]
    return Begun(empty_draft(title, words().language)) if title else None


def _template() -> Begun | None:
    template = request.form.get("template", "")
    found = [Begun(_new(each.document)) for each in all_templates() if each.name == template]
    return found[0] if found else None


def _new(document: Mapping[str, object]) -> SurveyDraft:
    """Return the draft of a survey that was not published before, whose columns in files the draft may choose."""
    return replace(draft_of(document), chooses_columns=True)


def _copy() -> Begun | None:
    """Copy a draft, or the newest revision of a survey, on which the reader has a role."""
    name = request.form.get("copy", "")
    if g.actor.role(name) is None:
        return None
    found = drafts.find_draft(name)
    if found is not None:
        return Begun(found.draft)
    revisions = storage().revisions(name)
    return Begun(draft_of(survey_of(revisions[-1].document).document)) if revisions else None


def _file() -> Begun | None:
    uploaded = request.files.get("file")
    data = uploaded.read() if uploaded else b""
    if data.startswith(WORKBOOK):
        form = read_xlsform(data)
        return Begun(_new(form.document), [words().in_this_language(each.message) for each in form.left_out])
    return Begun(draft_in(data)) if data else None


def draft_in(data: bytes) -> SurveyDraft:
    """Parse a survey file into a draft; a survey with mistakes becomes a draft with problems.

    Options and rows without a text have their names. Raises SpecError if the file is not YAML or JSON in UTF-8, does
    not hold a survey, or has a text, a list or a map where the survey has another of these.
    """
    try:
        data.decode()
    except UnicodeDecodeError:
        raise SpecError(words().translate("new_other_file")) from None
    document: Any = parse_yaml(data)
    try:
        draft = draft_of(_named(document, str(document.get("default_language", "en"))))
        # Check the round trip now: a draft that cannot be read back would fail only when its page is opened.
        if SurveyDraft.read(draft.dumped) != draft or not draft.cards:
            raise SpecError(words().translate("new_no_survey"))
        # The same for a value that no page of a draft can show, such as a text where each language has one.
        problems_of(draft, _ANY_NAME)
    except (AttributeError, KeyError, TypeError, ValueError, json.JSONDecodeError):
        raise SpecError(_in_words(_mistakes(document))) from None
    if other_kind := [each for each in _mistakes(document) if _is_of_another_kind(document, each)]:
        raise SpecError(_in_words(other_kind))
    return draft


def _mistakes(document: object) -> Sequence[Problem]:
    try:
        parse_survey(document)
    except SpecError as error:
        return error.problems
    return ()


def _in_words(mistakes: Sequence[Problem]) -> str:
    """Return the place and the words of the first mistake."""
    if mistakes and mistakes[0].pointer:
        pointer, message = mistakes[0]
        return f"{', '.join(pointer.split('/')[1:])}: {words().in_this_language(message)}"
    return words().translate("new_no_survey")


_KINDS = dict.fromkeys(("must be a map", "must name a mechanism", "must have one to five labels"), Mapping) | {
    **dict.fromkeys(("must be text", "must be a moment", "must be a day"), str), "must be a list": list
}  # fmt: skip


def _is_of_another_kind(document: Any, mistake: Problem) -> bool:  # noqa: ANN401 - parsed YAML
    """Return True if a page of a draft cannot show what is there, such as a list in the place of a text."""
    if mistake.pointer == "/access":
        return True
    for key in mistake.pointer.split("/")[1:]:
        document = document[int(key)] if isinstance(document, list) else (document or {}).get(key)
    kinds = [kind for begin, kind in _KINDS.items() if str(mistake.message).startswith(begin)]
    return document is not None and bool(kinds) and not isinstance(document, kinds[0])


def _named(part: Any, tag: str) -> Any:  # noqa: ANN401 - parsed YAML
    """Return a part of a document in which options, rows and coordinates without a text have their names."""
    if isinstance(part, list):
        return [_named(each, tag) for each in part]
    if not isinstance(part, Mapping):
        return part
    found = {key: _named(value, tag) for key, value in part.items()}
    for key in {"choices", "rows", "coordinates"} & found.keys():
        found[key] = [each if each.get("label") else {**each, "label": {tag: str(each["name"])}} for each in found[key]]
    return found


_WAYS: Mapping[str, Callable[[], Begun | None]] = {"empty": _empty, "template": _template, "copy": _copy, "file": _file}


_NEW = "/dashboard/new"

ROUTES = (
    Route("studio.new", "GET", _NEW, new, "Choose a template or a file for a new survey."),
    Route("studio.begin", "POST", _NEW, begin, "Begin a draft."),
)
"""Routes of the page "New survey"."""
