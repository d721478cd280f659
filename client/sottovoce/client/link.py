"""Parse a respondent's link: ``https://host/s/{survey}#d={first 32 digits of the digest}&t={token}&w={wave}``."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from sottovoce.shared.errors import TransportError
from sottovoce.shared.redemption import parse_token

# One address, one spelling: another would be another aggregator to the ledger, and buy a second draw.
_PATH = re.compile(r"(?P<base>(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*)/s/(?P<survey>[a-z0-9][a-z0-9_-]{0,63})/?")
_LOOPBACK = re.compile(r"localhost|127\.[0-9.]+|::1")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_DIGEST = re.compile(r"[0-9a-f]{32}")
_WAVE = re.compile(r"0|[1-9][0-9]{0,3}")


@dataclass(frozen=True)
class Link:
    """The parts of a survey link.

    Attributes:
        origin: the aggregator's address, without a trailing slash.
        digest: the first 32 digits of the survey's digest, or "" if the link carries none.
        token: the one-time token, or "" if the link carries none; it is in the fragment, which reaches no server.
    """

    origin: str
    survey: str
    digest: str
    token: str = ""
    wave: int = 0


def parse_link(url: str) -> Link:
    """Return the parts of a link. Raises TransportError if it is no http(s) link to a survey, its digest or wave has
    another form, or its token is mistyped.
    """
    try:
        # A mail program may take the end of a sentence or of brackets for a part of the link.
        parts = urlsplit(url.rstrip(".,>)"))
        # The property raises ValueError for a port out of range, so it is read inside the try.
        port = parts.port
    except ValueError:
        raise TransportError("the link is not a valid address") from None
    match = _PATH.fullmatch(parts.path)
    if parts.scheme not in {"http", "https"} or not parts.hostname or match is None:
        raise TransportError("the link must look like https://host/s/survey#d=digest")
    if parts.scheme == "http" and not _LOOPBACK.fullmatch(parts.hostname):
        raise TransportError("the link must begin with https: anybody on the way could read and change what is sent")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    where = host if port in {None, _DEFAULT_PORTS[parts.scheme]} else f"{host}:{port}"
    # Digest and token are in the fragment, which browsers never send to a server (RFC 9110, 7.1).
    fragment = parse_qs(parts.fragment)
    digest = fragment.get("d", [""])[0]
    if digest and not _DIGEST.fullmatch(digest):
        raise TransportError("the digest in the link must be 32 hexadecimal digits")
    wave = fragment.get("w", ["0"])[0]
    if not _WAVE.fullmatch(wave):
        raise TransportError("the wave in the link must be a whole number")
    origin = f"{parts.scheme}://{where}{match['base']}"
    return Link(origin, match["survey"], digest, _token(fragment.get("t", [""])[0], match["survey"]), int(wave))


def _token(text: str, survey: str) -> str:
    try:
        return parse_token(text, survey) if text else ""
    except ValueError as error:
        raise TransportError(f"the token in the link {error}") from None


def fragment_of(link: Link | None) -> str:
    """Return the URL fragment that names a survey on a static host; for None, a template in capitals."""
    if link is None:
        return "#s=SURVEY&d=DIGEST"
    return f"#s={link.survey}&d={link.digest}" if link.digest else f"#s={link.survey}"
