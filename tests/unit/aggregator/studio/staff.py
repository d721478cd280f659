"""Browsers of members of staff, for the tests of their pages."""

import re
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.accounts.authentication import new_cookie

OWN = {"Sec-Fetch-Site": "same-origin"}


def browser(app: Flask, account_id: bytes, language: str = "en") -> FlaskClient:
    cookie, digest = new_cookie()
    now = int(app.extensions["clock"]().timestamp())
    assert app.extensions["storage"].access.start_session(digest, account_id, "link", now)
    client = app.test_client()
    client.set_cookie(app.config["STAFF_COOKIE"], cookie)
    client.set_cookie("sottovoce-language", language)
    return client


def press(client: FlaskClient, path: str, **given: Any) -> Any:
    token = re.search(r'name="form_token" value="([0-9a-f]+)"', client.get("/dashboard/me").text)
    assert token
    return client.post(path, data={"form_token": token[1], **given}, headers=OWN)
