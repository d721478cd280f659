"""Keep uploaded files in memory: Werkzeug writes those above 500 KiB to a temporary file otherwise."""

from io import BytesIO
from typing import IO

from flask import Request


class MemoryRequest(Request):
    """Request of the application; the gate limits the size of each body before it is read."""

    def _get_file_stream(
        self,
        total_content_length: int | None,  # noqa: ARG002 - the four are Werkzeug's
        content_type: str | None,  # noqa: ARG002
        filename: str | None = None,  # noqa: ARG002
        content_length: int | None = None,  # noqa: ARG002
    ) -> IO[bytes]:
        return BytesIO()
