"""Client for the analyses of a remote aggregator over HTTP, with a researcher's key."""

import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
from numpy.typing import ArrayLike
from sottovoce.aggregator.export.results_client.sources import NO_ORDER, Document
from sottovoce.shared.errors import EstimateError, OptionsError, Problem, TransportError, cannot_read
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

SECONDS = 300
"""Request timeout; the first analysis of ten million reports takes more than ten seconds to read them."""

ASK_AGAIN = 2
"""Seconds after which to ask again for an analysis that takes long."""

_HERE = re.compile(r"localhost|127\.[0-9.]+|::1")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")


class AddressReports:
    """Reports of a survey at a remote aggregator.

    Args:
        url: address of the aggregator; https, or http on this machine; TransportError if it is invalid.
        name: name of the survey, likewise.
        key: key of a researcher.
    """

    def __init__(self, url: str, name: str, key: str) -> None:
        parts = urlsplit(url)
        # Plain http would expose the key to the network.
        if parts.scheme != "https" and not (parts.scheme == "http" and _HERE.fullmatch(parts.hostname or "")):
            raise TransportError("the address must begin with https://; plain http is for this machine only")
        if not _NAME.fullmatch(name):
            raise TransportError("this is no name of a survey")
        self._surveys = f"{url.rstrip('/')}/api/v1/surveys/{name}"
        self._headers = {"Authorization": f"Bearer {key}"}

    def answer(self, kind: str, options: Document, weights: ArrayLike | None = None) -> Document:
        """Request the analysis; ``weights`` must be None, because the caller does not know the order of the rows.

        Raises SurveyError if the aggregator refuses, or cannot be reached.
        """
        if weights is not None:
            raise EstimateError(NO_ORDER)
        return self._reply("POST", f"{self._surveys}/{kind}", options)

    @property
    def survey(self) -> Survey:
        """Newest revision of the survey."""
        return parse_survey(self._reply("GET", self._surveys, None))

    def export(self) -> Document:
        """Request the estimates, as a ``sottovoce-export/1`` document."""
        return self._reply("GET", f"{self._surveys}/export", None)

    def _reply(self, method: str, address: str, body: Document | None) -> Document:
        try:
            # Following a redirect could send the key to a host that the researcher did not name.
            reply = requests.request(
                method, address, json=body, headers=self._headers, timeout=SECONDS,
                allow_redirects=False,
            )  # fmt: skip
            document = reply.json()
        except requests.RequestException:
            raise TransportError("the aggregator cannot be reached, or its reply is none of an aggregator's") from None
        if reply.status_code == requests.codes.ok and isinstance(document, dict):
            return document
        if reply.status_code == requests.codes.accepted:
            time.sleep(ASK_AGAIN)
            # A long analysis has an address of its own, of which only the last part is taken from the reply.
            job = reply.headers.get("Location", "").rpartition("/")[2]
            return self._reply("GET", f"{self._surveys}/analyses/{job}", None)
        raise _refusal(reply.status_code, document)


def _refusal(status: int, document: Any) -> Exception:  # noqa: ANN401 - JSON
    """Convert a problem document of the aggregator into the exception that a local analysis would raise."""
    problem = document if isinstance(document, dict) else {}
    if problem.get("code") == "unauthorized":
        return TransportError("the aggregator does not take this key", status, "unauthorized")
    problems = problem.get("problems") or []
    if problems:
        return OptionsError([Problem(str(one.get("pointer", "")), str(one.get("message", ""))) for one in problems])
    words = str(problem.get("detail") or problem.get("title") or "the aggregator gave no answer")
    return TransportError(words, status, problem.get("code"))


def read_key(file: Path | None, environment: Mapping[str, str] = os.environ) -> str:
    """Read a researcher's key from a file, or from ``SOTTOVOCE_KEY_FILE`` or ``SOTTOVOCE_KEY``.

    The command line takes no key, because all users of a machine can see the arguments of a process. Raises
    TransportError if there is no key, or the file cannot be read.
    """
    named = file or environment.get("SOTTOVOCE_KEY_FILE")
    if named is None:
        key = environment.get("SOTTOVOCE_KEY", "").strip()
    else:
        try:
            key = Path(named).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise TransportError(f"no key: {cannot_read(Path(named), error)}") from None
        except UnicodeDecodeError:
            raise TransportError(f'the file "{named}" holds no key') from None
    if not key or not key.isascii() or not key.isprintable():
        raise TransportError("a researcher's key is needed: SOTTOVOCE_KEY, SOTTOVOCE_KEY_FILE or --key-file FILE")
    return key
