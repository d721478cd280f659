"""The clients of the gallery can be planted, and there are enough of each kind to judge an audit by."""

from collections import Counter
from pathlib import Path

import pytest
from sottovoce.shared.parse_survey import parse_survey

from tests.planted.gallery import CLASSES, CLIENTS, FAILED, HONEST, NOT_SEEN, PASSED, PROMISES, SURVEYS, PlantedClient

ROOT = Path(__file__).parents[2]
LANGUAGES = ("python", "javascript")


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_client_can_still_be_planted(client: PlantedClient) -> None:
    """The code of each edit stands in its file just once; where the code has changed, the gallery is to be repaired."""
    for edit in client.edits:
        count = (ROOT / edit.file).read_text(encoding="utf-8").count(edit.code)
        assert count == 1, f"{edit.file} has this {count} times: {edit.code}"
        assert edit.planted != edit.code


def test_no_two_clients_are_one() -> None:
    """Each has a name and a change of its own."""
    assert len({client.name for client in CLIENTS}) == len(CLIENTS)
    assert len({client.edits for client in CLIENTS}) == len(CLIENTS)


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_client_says_what_it_is_for(client: PlantedClient) -> None:
    """An honest one breaks no promise and passes; whoever is not seen has a reason; the survey is there."""
    assert client.survey in SURVEYS
    assert client.language in LANGUAGES
    assert bool(client.reason) == (client.verdict == NOT_SEEN)
    if client.kind == HONEST:
        assert (client.verdict, client.promise) == (PASSED, "")
    else:
        assert client.verdict in {FAILED, NOT_SEEN}
        assert client.kind in CLASSES
        assert client.promise in PROMISES


def test_gallery_is_large_enough() -> None:
    """Two or more that must be found for each class in each language, and for each promise; some for what none sees."""
    found = [client for client in CLIENTS if client.verdict == FAILED]
    kinds = Counter((client.language, client.kind) for client in found)
    promises = Counter(client.promise for client in found)
    verdicts = Counter(client.verdict for client in CLIENTS)

    assert [kind for language in LANGUAGES for kind in CLASSES if kinds[language, kind] < 2] == []
    assert [promise for promise in PROMISES if promises[promise] < 2] == []
    assert verdicts[FAILED] >= 44
    assert verdicts[NOT_SEEN] >= 4
    assert verdicts[PASSED] >= 6


@pytest.mark.parametrize("name", SURVEYS)
def test_survey_can_be_asked(name: str) -> None:
    """Each survey of the gallery is one, within what a person allows by default."""
    asked = parse_survey(SURVEYS[name])

    assert asked.name == name
    assert asked.epsilon < 8
