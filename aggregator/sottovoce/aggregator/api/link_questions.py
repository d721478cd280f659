"""List, publish and withdraw questions that are asked by a link."""

from flask import Response, current_app, g, jsonify, request
from sottovoce.aggregator.http.routing import Kind, Route
from sottovoce.shared import canonical
from sottovoce.shared.by_link.link_question import LinkQuestion, parse_link
from sottovoce.shared.errors import SpecError


def published() -> Response:
    """List the questions in the database."""
    found = current_app.extensions["storage"].link_questions.all()
    return jsonify({"questions": [_described(parse_link(canonical.load(each.document))) for each in found]})


def publish() -> Response:
    """Publish the question in the body; publishing it again changes nothing."""
    try:
        document = canonical.load(request.get_data())
    except ValueError as error:
        raise SpecError(f"the question {error}") from None
    link = parse_link(document)
    current_app.extensions["storage"].link_questions.publish(link.digest, link.canonical, g.who)
    return jsonify(_described(link))


def withdraw(digest: str) -> Response:
    """Withdraw a question that this account published, or any for an admin."""
    withdrawn = current_app.extensions["storage"].link_questions.withdraw(digest, g.who, g.actor.is_admin)
    return jsonify({"digest": digest, "withdrawn": withdrawn})


def _described(link: LinkQuestion) -> dict[str, str]:
    address = f"{current_app.extensions['settings'].url}/q/1/{link.digest}"
    return {"digest": link.digest, "address": address, "then": link.then}


_PATH = "/api/v1/questions"

ROUTES = (
    Route("questions.published", "GET", _PATH, published, "List the published questions that are asked by a link.",
          Kind.RESEARCHER, ("published-questions",)),
    Route("questions.publish", "POST", _PATH, publish,
          "Publish a question that is asked by a link; publishing the same question again changes nothing.",
          Kind.RESEARCHER, ("published-question",), body="link-question", refuses=("spec_invalid",)),
    Route("questions.withdraw", "DELETE", f"{_PATH}/<digest>", withdraw,
          "Withdraw such a question that this account published; admins withdraw any.",
          Kind.RESEARCHER, ("withdrawn-question",)),
)  # fmt: skip
"""Routes of questions that are asked by a link."""
