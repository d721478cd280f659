"""What the tests of the API share."""

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.accounts.authentication import new_key


def program_of(app: Flask) -> FlaskClient:
    """The program of a researcher, with a key of its own."""
    token, digest = new_key()
    app.extensions["storage"].add_researcher("ann", digest)
    client = app.test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {token}"
    return client


@pytest.fixture
def researcher(app: Flask) -> FlaskClient:
    """A researcher's program."""
    return program_of(app)
