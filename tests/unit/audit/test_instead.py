"""What stands in another thing's place goes when it is over, and what was there comes back."""

import os
import secrets
from contextlib import suppress
from types import SimpleNamespace

import pytest
from sottovoce.audit.instead import environment, instead
from sottovoce.audit.system_source import system_source


def test_what_was_there_comes_back() -> None:
    """Also after an error, and where there was nothing."""
    place = SimpleNamespace(kept=1)
    with suppress(ZeroDivisionError), instead(place, "kept", 2), instead(place, "new", 3):
        assert vars(place) == {"kept": 2, "new": 3}
        raise ZeroDivisionError

    assert vars(place) == {"kept": 1}


@pytest.mark.parametrize("alone", [False, True])
def test_environment_comes_back(alone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was changed in it meanwhile."""
    monkeypatch.setenv("SOTTOVOCE_BEFORE", "1")
    with environment({"SOTTOVOCE_MORE": "2"}, alone):
        assert os.environ["SOTTOVOCE_MORE"] == "2"
        assert ("SOTTOVOCE_BEFORE" in os.environ) != alone
        os.environ["SOTTOVOCE_OTHER"] = "3"

    assert os.environ["SOTTOVOCE_BEFORE"] == "1"
    assert not {"SOTTOVOCE_MORE", "SOTTOVOCE_OTHER"} & set(os.environ)


def test_all_of_python_reads_the_other_source() -> None:
    """Whichever way it asks for random bytes."""
    with system_source(lambda count: b"\7" * count):
        assert {secrets.token_bytes(3), os.urandom(3), secrets.SystemRandom().randbytes(3)} == {b"\7\7\7"}

    assert len({secrets.token_bytes(16), os.urandom(16)}) == 2
