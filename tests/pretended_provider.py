"""An OpenID Connect provider that can lie, for what a real one never does."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from joserfc import jwt
from joserfc.jwk import ECKey, KeySet

CLIENT = "sottovoce"
SECRET = "a secret of this client"


class PretendedProvider:
    """What it says of itself, and which token it gives for any code; all may be changed.

    ``claims`` and ``description`` stand beside its own; ``refuses`` is an error for a code, ``forged`` a token, or "".
    """

    def __init__(self) -> None:
        self.claims: dict[str, Any] = {}
        self.description: dict[str, Any] = {}
        self.signing = ECKey.generate_key("P-256", parameters={"kid": "first"})
        self.published = [self.signing]
        self.refuses = ""
        self.forged = ""
        self.asked: list[dict[str, str]] = []
        self.keys_asked = 0
        self.issuer = ""

    def rotate(self) -> None:
        """Sign with another key from now on, and name no other."""
        self.signing = ECKey.generate_key("P-256", parameters={"kid": "second"})
        self.published = [self.signing]

    def answer(self, path: str, body: str) -> tuple[int, Any]:
        """Status and document for a request."""
        if path == "/keys":
            self.keys_asked += 1
            return 200, KeySet(list(self.published)).as_dict(private=False)
        if path == "/token":
            self.asked.append({name: values[0] for name, values in parse_qs(body).items()})
            return (401, {"error": self.refuses}) if self.refuses else (200, self._token())
        return 200, {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/auth",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            **self.description,
        }

    def _token(self) -> dict[str, str]:
        now = int(time.time())
        told = {"iss": self.issuer, "aud": CLIENT, "sub": "ada", "iat": now, "exp": now + 300, **self.claims}
        header = {"alg": "ES256", "kid": self.signing.kid}
        told = {name: value for name, value in told.items() if value is not None}
        token = self.forged or jwt.encode(header, told, self.signing)
        return {"access_token": "none", "token_type": "Bearer", "id_token": token}


@contextmanager
def pretended_provider() -> Iterator[PretendedProvider]:
    provider = PretendedProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(*provider.answer(self.path, ""))

        def do_POST(self) -> None:
            self._reply(*provider.answer(self.path, self.rfile.read(int(self.headers["Content-Length"])).decode()))

        def log_message(self, *_: object) -> None:
            pass

        def _reply(self, status: int, document: Any) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
