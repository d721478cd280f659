"""Parse the Authorization header for tokens and blind signatures (RFC 9110, 11.6.2; RFC 6750)."""

import re

EXPECTED = "a key is sent as: Authorization: Bearer KEY"

_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*) *", re.IGNORECASE).fullmatch
_BLIND = re.compile(r"blind +([A-Za-z0-9_-]{1,1024}) *", re.IGNORECASE).fullmatch


def blind_signature(authorization: str) -> str:
    """Return the blind signature in an ``Authorization`` header of the scheme ``Blind``; "" if there is none."""
    match = _BLIND(authorization)
    return "" if match is None else match[1]


def bearer_token(authorization: str) -> str:
    """Return the token in an ``Authorization`` header of the scheme ``Bearer``, in any case; "" if there is none."""
    match = _BEARER(authorization)
    return "" if match is None else match[1]
