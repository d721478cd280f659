"""The header that a token or a signature comes in, read as RFC 9110 and RFC 6750 have it."""

import re

EXPECTED = "a key is sent as: Authorization: Bearer KEY"

_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*) *", re.IGNORECASE).fullmatch


_BLIND = re.compile(r"blind +([A-Za-z0-9_-]{1,1024}) *", re.IGNORECASE).fullmatch


def blind_signature(authorization: str) -> str:
    """The signature of a report's id in an ``Authorization`` header of the scheme ``Blind``; "" if there is none."""
    found = _BLIND(authorization)
    return "" if found is None else found[1]


def bearer_token(authorization: str) -> str:
    """The token in an ``Authorization`` header, whose scheme may be written in any case; "" if there is none."""
    found = _BEARER(authorization)
    return "" if found is None else found[1]
