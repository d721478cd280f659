"""The year of one survey, as its respondents live it: nothing is lost, and nobody is told a falsehood."""

from pathlib import Path

import pytest
from sottovoce.client.link import parse_link
from sottovoce.shared.tokens import token_hash

from tests.journey.year import Person, Year, document
from tests.journey.year_sentences import told_truly

CORRECTED = {"en": "Exams, corrected"}


@pytest.fixture
def year(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Year:
    """A world before its first survey."""
    return Year(tmp_path, monkeypatch)


def answers(year: Year, person: Person, link: str = "") -> str:
    """What somebody is told who opens the link and answers."""
    return told_truly(year, person, lambda: person.answer(link))


def arrives(year: Year, people: list[Person]) -> None:
    """They answer, and each report arrives."""
    for person in people:
        assert "has arrived" in answers(year, person)


def sees_receipt(year: Year, people: list[Person]) -> None:
    """They have answered, and are told so, with what was sent."""
    for person in people:
        told = answers(year, person)
        assert "You have already answered" in told
        assert "has arrived" in told


def loses(year: Year, people: list[Person], what: str) -> None:
    """They answer, and the report is lost on its way, or the receipt on its way back."""
    for person in people:
        with year.losing(what):
            assert "kept on this device" in answers(year, person)


def mistyped(link: str) -> str:
    """The link with its last letter wrong."""
    return link[:-1] + ("X" if link[-1] != "X" else "Y")


def spring(year: Year, people: list[Person]) -> None:
    """110 answer; 30 reports and 20 receipts are lost on the way."""
    arrives(year, people[:110])
    loses(year, people[140:170], "report")
    loses(year, people[170:190], "receipt")

    assert year.stored() == 110 + 20


def correction(year: Year, people: list[Person]) -> None:
    """Every old link goes on working, queues included, and whoever has answered sees what was sent."""
    year.on(3, 1)
    year.publish(document(2, title=CORRECTED), "--keep")
    new = year.invite(10)
    arrives(year, people[110:140] + new)
    sees_receipt(year, people[:10] + people[140:190])
    assert year.stored() == 110 + 30 + 10 + 30 + 20

    # Somebody answered with the link of the old revision, and opens that of the new one: the same receipt.
    digests = [parse_link(person.link).digest for person in (people[20], new[0])]
    assert "You have already answered" in answers(year, people[20], people[20].link.replace(*digests))


def wrong_links(year: Year, people: list[Person]) -> None:
    """Mistyped ones, and one that somebody has used; then one's own."""
    for person in people[190:195]:
        assert "mistyped" in answers(year, person, mistyped(person.link))
        assert "cannot be used" in answers(year, person, people[50].link)
    arrives(year, people[190:250])


def taking_back(year: Year, people: list[Person]) -> None:
    """Five take their reports back, and are told so whatever they open."""
    for person in people[:5]:
        command = ("respond", person.link, "--withdraw", "--yes")
        assert "Withdrawn" in told_truly(year, person, lambda who=person, words=command: who.run(*words))  # type: ignore[misc]
        assert "withdrawn" in answers(year, person)

    assert year.stored() == 200 + 60 - 5


def retirement(year: Year, people: list[Person]) -> None:
    """A correction retires the others: what was drawn is sent, and who has not answered is told whom to ask."""
    year.on(4, 1)
    loses(year, people[250:260], "report")
    year.publish(document(3, title=CORRECTED, description={"en": "Exams"}), "--retire")
    for person in people[250:260]:
        assert "have now been sent" in answers(year, person)
    for person in people[260:280]:
        assert "was replaced" in answers(year, person)
    sees_receipt(year, people[110:111])


def end_of_wave(year: Year, people: list[Person]) -> None:
    """It ends while reports wait: they are refused, kept and never drawn again; nobody else is asked anything."""
    year.on(6, 1)
    late = year.invite(20)
    loses(year, late[:10], "report")
    year.on(7, 2)
    for _ in range(2):
        for person in late[:10]:
            told = answers(year, person)
            assert "kept on this device" in told or "keeps them unchanged" in told
            assert "has arrived" not in told
    for person in late[10:] + people[280:]:
        assert "has arrived" not in answers(year, person)
    sees_receipt(year, people[111:112])


def autumn(year: Year) -> None:
    """The next wave is early, then open: each report is a draw of its own."""
    second = year.invite(40, wave=1)
    assert "Opens on" in answers(year, second[0])
    year.on(9, 2)
    arrives(year, second)
    year.command("survey", "close", "exam")
    sees_receipt(year, second[:1])


def test_year_of_one_survey(year: Year) -> None:
    """
    300 people with links, a correction, queues, a second correction that retires the others, the end of a wave, the
    next wave and the close: what was acknowledged is counted, what was not is told, and nobody draws twice.
    """
    with year.open():
        year.on(2, 10)
        year.publish(document())
        people = year.invite(300)
        for stage in (spring, correction, wrong_links, taking_back, retirement, end_of_wave):
            stage(year, people)
        assert year.stored() == 255 + 10
        autumn(year)

        sees_receipt(year, people[112:113])
        counted = [person for person in year.people if person.body and person.entries[0].sent]
        assert all(year.is_stored(person.body) for person in counted)
        assert len(counted) == year.stored() == 265 + 40
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
