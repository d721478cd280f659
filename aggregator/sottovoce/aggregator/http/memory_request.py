"""Keep uploaded files in memory: Werkzeug writes those above 500 KiB to a temporary file otherwise."""

from io import BytesIO
from typing import IO

from flask import Request


class MemoryRequest(Request):
    """Request of the application; the gate limits the size of each body before it is read."""

    def _get_file_stream(self, *_: object, **__: object) -> IO[bytes]:
        return BytesIO()
