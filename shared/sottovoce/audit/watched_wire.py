"""
What a watched client has in the place of the network: requests are noted with all that decides how they go, and the
replies try to make a device known again.
"""

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from email.message import Message
from types import SimpleNamespace
from typing import Any

import requests
from sottovoce.audit.instead import all_instead

_OPTIONS = ("timeout", "verify", "cert", "proxies")
_COOKIE = "known=again; Path=/; Secure"

Send = Callable[[requests.PreparedRequest, tuple[Any, ...]], tuple[int, bytes]]
"""``send(request, how)``: the status and the content of the reply."""


@contextmanager
def no_network(send: Send, closed: Callable[[int], None]) -> Iterator[None]:
    """
    While this lasts, requests end here.

    Args:
        send: hears of each request, and of which connections it goes over, by the order in which they were first used,
            how long it waits, whom it trusts and whether it goes round by somebody else.
        closed: hears that connections were closed: the next request over them opens others, which shows.
    """
    adapters: list[requests.adapters.HTTPAdapter] = []

    def number(adapter: requests.adapters.HTTPAdapter) -> int:
        if not any(adapter is known for known in adapters):
            adapters.append(adapter)
        return next(place for place, known in enumerate(adapters) if adapter is known)

    def sent(adapter: requests.adapters.HTTPAdapter, request: Any, **options: Any) -> requests.Response:  # noqa: ANN401 - as requests has it
        how = (number(adapter), *(_plain(options.get(name)) for name in _OPTIONS))
        return _reply(request, *send(request, how))

    adapter = requests.adapters.HTTPAdapter
    with all_instead([(adapter, "send", sent), (adapter, "close", lambda each: closed(number(each)))]):
        yield


def _plain(option: Any) -> Any:  # noqa: ANN401 - whatever requests is given
    return tuple(sorted(option.items())) if isinstance(option, Mapping) else option


def _reply(request: requests.PreparedRequest, status: int, content: bytes) -> requests.Response:
    reply = requests.Response()
    reply.request, reply.url, reply.status_code = request, request.url or "", status
    reply.raw = _Content(content)
    reply.headers["Set-Cookie"] = _COOKIE
    return reply


class _Content(io.BytesIO):
    """The bytes of a reply, with what ``requests`` reads cookies from."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        said = Message()
        said["Set-Cookie"] = _COOKIE
        self._original_response = SimpleNamespace(msg=said)
