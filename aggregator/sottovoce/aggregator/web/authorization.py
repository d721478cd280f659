"""The header that a token comes in, read as RFC 9110 and RFC 6750 have it."""

import re

EXPECTED = "a key is sent as: Authorization: Bearer KEY"

_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*) *", re.IGNORECASE).fullmatch


def bearer_token(authorization: str) -> str:
    """The token in an ``Authorization`` header, whose scheme may be written in any case; "" if there is none."""
    found = _BEARER(authorization)
    return "" if found is None else found[1]
