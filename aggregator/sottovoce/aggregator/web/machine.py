"""What machines ask: is the process alive, may traffic come."""

from flask import Blueprint, Response, current_app

blueprint = Blueprint("machine", __name__)


@blueprint.get("/healthz")
def healthz() -> Response:
    """The process answers."""
    return Response("ok\n", content_type="text/plain")


@blueprint.get("/readyz")
def readyz() -> Response:
    """The database can be written to and has the schema known here; otherwise a 503."""
    current_app.extensions["storage"].check()
    return Response("ready\n", content_type="text/plain")
