"""Write canonical JSON (RFC 8785 for what Sottovoce uses: objects with ASCII keys, arrays, strings, integers, booleans,
null), and read it strictly.
"""

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

MAX_INTEGER = 2**53 - 1
"""The largest integer that JavaScript reads exactly."""

_MAX_DEPTH = 32


def dump(value: object) -> bytes:
    """Return the one spelling of a value: keys sorted, no spaces, UTF-8."""
    return _ENCODER.encode(value).encode()


class DigestedDocument:
    """A thing known by the digest of the canonical bytes of its document, which has all shorthand expanded."""

    document: Mapping[str, Any]

    @cached_property
    def canonical(self) -> bytes:
        """The bytes that every respondent is given."""
        return dump(self.document)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical bytes, 64 hexadecimal digits."""
        return hashlib.sha256(self.canonical).hexdigest()


def load(body: bytes) -> dict[str, Any]:
    """Read the object in ``body``.

    Raises ValueError if it is not UTF-8, not JSON, no object at the top, or has a duplicate key, a number that is not
    an integer within 2^53 - 1, a lone surrogate, or is too deep. The message says which and repeats nothing.
    """
    try:
        value = _DECODER.decode(body.decode())
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise ValueError("is nested too deep") from None
    if not isinstance(value, dict):
        raise ValueError("must be a JSON object")
    check_tree(value)
    return value


def check_tree(value: object, depth: int = 0) -> None:
    """Refuse what no Sottovoce document holds, wherever it was read from (JSON or YAML).

    Raises ValueError for other types than str, int, bool, None, list and dict; text that UTF-8 cannot carry; too deep.
    """
    if depth > _MAX_DEPTH:
        raise ValueError("is nested too deep")
    if isinstance(value, dict):
        for key, item in value.items():
            check_tree(key, depth + 1)
            check_tree(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            check_tree(item, depth + 1)
    elif isinstance(value, str):
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            raise ValueError("holds text that is not valid Unicode")
    elif type(value) is int:
        if abs(value) > MAX_INTEGER:
            raise ValueError("holds a number beyond 2^53 - 1")
    elif value is not None and not isinstance(value, bool):
        raise ValueError("holds a value that is not text, a whole number, true, false or null")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("has a duplicate key")
    return result


def _refuse_number(_text: str) -> None:
    raise ValueError("holds a number that is not a whole number")


def _integer(text: str) -> int:
    # -0 is an integer to Python and a negative zero to JavaScript; long digit strings are slow to convert.
    if text == "-0" or len(text) > 17:
        raise ValueError("holds a number beyond 2^53 - 1")
    return int(text)


# Made once: a short document takes as long as what reads or writes it takes to make.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_refuse_number, parse_float=_refuse_number, parse_int=_integer
)
