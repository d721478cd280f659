"""Static hosts on this machine, as other sites than the aggregator's: it is 127.0.0.1, they are localhost."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
"""The accessibility checker's script."""


class Quiet(SimpleHTTPRequestHandler):
    more: Mapping[str, str] = MappingProxyType({})

    def end_headers(self) -> None:
        """Have the browser keep nothing: a page that a test writes again within a second is another page."""
        for name, value in {"Cache-Control": "no-store", **self.more}.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(folder: Path, headers: Mapping[str, str] = MappingProxyType({})) -> Iterator[str]:
    """Serve the files of a folder, each with these headers; gives the origin."""
    handler = type("Handler", (Quiet,), {"more": headers})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
