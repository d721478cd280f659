"""Where a page leads after a form was posted, so that loading it again posts nothing again."""

from flask import Response


def lead_to(address: str) -> Response:
    """A reply with which a browser goes on to an address by GET."""
    return Response(status=303, headers={"Location": address})
