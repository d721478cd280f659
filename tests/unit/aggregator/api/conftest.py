import json
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.accounts.authentication import new_key


def program_of(app: Flask, name: str = "ann") -> FlaskClient:
    token, digest = new_key()
    app.extensions["storage"].add_researcher(name, digest)
    client = app.test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {token}"
    return client


@pytest.fixture
def researcher(app: Flask) -> FlaskClient:
    return program_of(app)


def post(client: FlaskClient, path: str, document: Any, peer: str = "127.0.0.1", **headers: str) -> Any:
    body = document if isinstance(document, bytes) else json.dumps(document, separators=(",", ":")).encode()
    environ = {"CONTENT_LENGTH": str(len(body)), "REMOTE_ADDR": peer}
    return client.post(path, data=body, content_type="application/json", headers=headers, environ_overrides=environ)
