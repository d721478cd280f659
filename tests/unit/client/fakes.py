"""Stand-ins for the network and for randomness."""

import json

from requests.cookies import RequestsCookieJar
from sottovoce.shared.report import parse_report, receipt


class Reply:
    """What a ``requests`` session returns, as far as the transport looks at it."""

    def __init__(self, status=200, content=b"{}", headers=None):
        self.status_code = status
        self.content = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.headers = headers or {}

    def __str__(self):
        return f"{self.status_code} {self.content[:40].decode(errors='replace')}"

    def iter_content(self, size):
        yield from (self.content[start : start + size] for start in range(0, len(self.content), size))

    def close(self):
        """Nothing is held."""


class Session:
    """Plays a list of replies or errors, and remembers every request; the last one is repeated."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.requests = []
        self.auth = None
        self.cookies = RequestsCookieJar()

    def request(self, method, url, **options):
        self.requests.append((method, url, options))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return reply(options.get("data")) if callable(reply) else reply


def acknowledge(body):
    return Reply(content=receipt(parse_report(body), body))


def reading(data):
    """A source of randomness that gives these bytes and then fails loudly."""
    rest = bytearray(data)

    def take(count):
        if len(rest) < count:
            raise AssertionError("more randomness was read than expected")
        taken = bytes(rest[:count])
        del rest[:count]
        return taken

    take.rest = rest
    return take
