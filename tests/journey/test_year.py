"""The year of one survey, as its respondents live it: nothing is lost, and nobody is told a falsehood."""

from pathlib import Path

import pytest
from sottovoce.client.link import parse_link
from sottovoce.shared.redemption import token_hash

from tests.journey.year import Person, Year, document
from tests.journey.year_sentences import told_truly

CORRECTED = {"en": "Exams, corrected"}


@pytest.fixture
def year(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Year:
    return Year(tmp_path, monkeypatch)


def answers(year: Year, person: Person, link: str = "") -> str:
    return told_truly(year, person, lambda: person.answer(link))


def arrives(year: Year, people: list[Person]) -> None:
    for person in people:
        assert "have arrived" in answers(year, person)


def sees_receipt(year: Year, people: list[Person]) -> None:
    for person in people:
        told = answers(year, person)
        assert "You have already answered" in told
        assert "have arrived" in told


def loses(year: Year, people: list[Person], what: str) -> None:
    """They answer, and the report is lost on its way, or the receipt on its way back."""
    for person in people:
        with year.losing(what):
            assert "kept on this device" in answers(year, person)


def mistyped(link: str) -> str:
    return link[:-1] + ("X" if link[-1] != "X" else "Y")


def spring(year: Year, people: list[Person]) -> None:
    """11 units answer; 3 of reports and 2 of receipts are lost on the way."""
    n = year.unit
    arrives(year, people[: 11 * n])
    loses(year, people[14 * n : 17 * n], "report")
    loses(year, people[17 * n : 19 * n], "receipt")

    assert year.stored() == 13 * n


def correction(year: Year, people: list[Person]) -> None:
    """Every old link goes on working, queues included, and whoever has answered sees what was sent."""
    n = year.unit
    year.on(3, 1)
    year.publish(document(2, title=CORRECTED), "--keep")
    new = year.invite(n)
    arrives(year, people[11 * n : 14 * n] + new)
    sees_receipt(year, people[:n] + people[14 * n : 19 * n])
    assert year.stored() == 20 * n

    # Somebody answered with the link of the old revision, and opens that of the new one: the same receipt.
    digests = [parse_link(person.link).digest for person in (people[2 * n], new[0])]
    assert "You have already answered" in answers(year, people[2 * n], people[2 * n].link.replace(*digests))


def wrong_links(year: Year, people: list[Person]) -> None:
    """Mistyped ones, and one that somebody has used; then one's own."""
    n = year.unit
    for person in people[19 * n : 20 * n]:
        assert "mistyped" in answers(year, person, mistyped(person.link))
        assert "cannot be used" in answers(year, person, people[5 * n].link)
    arrives(year, people[19 * n : 25 * n])


def taking_back(year: Year, people: list[Person]) -> None:
    """One unit takes its reports back, and is told so whatever it opens."""
    for person in people[: year.unit]:
        command = ("respond", person.link, "--withdraw", "--yes")
        assert "Withdrawn" in told_truly(year, person, lambda who=person, words=command: who.run(*words))  # type: ignore[misc]
        assert "withdrawn" in answers(year, person)

    assert year.stored() == 25 * year.unit


def retirement(year: Year, people: list[Person]) -> None:
    """A correction retires the others: what was drawn is sent, and who has not answered is told whom to ask."""
    n = year.unit
    year.on(4, 1)
    loses(year, people[25 * n : 26 * n], "report")
    year.publish(document(3, title=CORRECTED, description={"en": "Exams"}), "--retire")
    for person in people[25 * n : 26 * n]:
        assert "have now been sent" in answers(year, person)
    for person in people[26 * n : 28 * n]:
        assert "was replaced" in answers(year, person)
    sees_receipt(year, [people[11 * n]])


def end_of_wave(year: Year, people: list[Person]) -> None:
    """It ends while reports wait: they are refused, kept and never drawn again; nobody else is asked anything."""
    n = year.unit
    year.on(6, 1)
    late = year.invite(2 * n)
    loses(year, late[:n], "report")
    year.on(7, 2)
    for _ in range(2):
        for person in late[:n]:
            told = answers(year, person)
            assert "kept on this device" in told or "keeps them unchanged" in told
            assert "have arrived" not in told
    for person in late[n:] + people[28 * n :]:
        assert "have arrived" not in answers(year, person)
    sees_receipt(year, [people[12 * n]])


def autumn(year: Year) -> None:
    """The next wave is early, then open: each report is a draw of its own."""
    second = year.invite(4 * year.unit, wave=1)
    assert "Opens on" in answers(year, second[0])
    year.on(9, 2)
    arrives(year, second)
    year.command("survey", "close", "exam")
    sees_receipt(year, second[:1])


@pytest.mark.parametrize("unit", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_year_of_one_survey(year: Year, unit: int) -> None:
    """30 units of people: what was acknowledged is counted, what was not is told, and nobody draws twice."""
    year.unit = unit
    with year.open():
        year.on(2, 10)
        year.publish(document())
        people = year.invite(30 * unit)
        for stage in (spring, correction, wrong_links, taking_back, retirement, end_of_wave):
            stage(year, people)
        assert year.stored() == 26 * unit
        autumn(year)

        sees_receipt(year, [people[13 * unit]])
        counted = [person for person in year.people if person.body and person.entries[0].sent]
        assert all(year.is_stored(person.body) for person in counted)
        assert len(counted) == year.stored() == 30 * unit
        assert len({person.body for person in counted}) == len(counted)


def test_tokens_of_the_year_are_stored_without_their_check_letters(year: Year) -> None:
    """What a link carries has 18 letters; what is stored is the hash of 16, so that older links stay good."""
    with year.open():
        year.on(2, 10)
        year.publish(document())
        (person,) = year.invite(1)
        token = person.link.split("&t=")[1]
        key = year.storage.revisions("exam")[0].key

        assert len(token) == 18
        assert year.storage.has_token(key, token_hash(token[:16], "exam"))
