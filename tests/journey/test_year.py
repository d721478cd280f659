"""The year of one survey, as its respondents live it: nothing is lost, and nobody is told a falsehood."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from sottovoce.client.link import parse_link
from sottovoce.shared.tokens import token_hash

from tests.journey.year import Person, Year, document


@dataclass
class Visit:
    """One run of the program by one person: how things stood before it, and what it told."""

    year: Year
    person: Person
    before: list[object]
    posts: int

    @property
    def body(self) -> str:
        """The report that the device holds now."""
        return self.person.body

    def entry(self) -> object:
        """The only entry that the device holds."""
        (entry,) = self.person.entries
        return entry


Check = Callable[[Visit, re.Match[str]], bool]


def _arrived(visit: Visit, _: re.Match[str]) -> bool:
    return visit.year.is_stored(visit.body) and visit.entry().sent  # type: ignore[attr-defined]


def _nothing_sent(visit: Visit, _: re.Match[str]) -> bool:
    return visit.year.posts == visit.posts and len(visit.person.entries) == len(visit.before)


def _closed(visit: Visit, found: re.Match[str]) -> bool:
    moment = visit.year.clock.moment.isoformat()
    return found["day"] <= moment[:10] and _nothing_sent(visit, found)


def _own(name: str) -> Check:
    return lambda visit, found: json.loads(visit.body)[name] == found["value"]


CHECKED: dict[str, Check] = {
    r"Thank you\. Your report has arrived\.": _arrived,
    r"You have answered this survey on this device; no second report is drawn\.": lambda visit, _: len(visit.before) == 1,
    r"The report that was drawn then has now been sent\.": lambda visit, found: (
        not visit.before[0].sent and _arrived(visit, found)  # type: ignore[attr-defined]
    ),
    r"Your report is kept on this device\. .*It is never drawn again\.": lambda visit, _: (
        visit.entry().waiting  # type: ignore[attr-defined]
    ),
    r"Withdrawn: exam, wave 0\.": lambda visit, _: (
        visit.entry().ended == "withdrawn"  # type: ignore[attr-defined]
        and not visit.year.is_stored(visit.before[0].body)  # type: ignore[attr-defined]
    ),
    r"sottovoce: this survey was answered on this device, and the report withdrawn; no other is drawn": lambda visit, _: (
        visit.entry().ended == "withdrawn" and visit.year.posts == visit.posts  # type: ignore[attr-defined]
    ),
    r"sottovoce: This link cannot be used\. It may have been used or taken back\. Nothing was sent\. .*": _nothing_sent,
    r"sottovoce: .*link.*(mistyped|missing).*": _nothing_sent,
    r"sottovoce: Closed since (?P<day>[0-9-]+).*Nothing was asked\.": _closed,
    r"sottovoce: Opens on (?P<day>[0-9-]+).*": lambda visit, found: (
        found["day"] > visit.year.clock.moment.isoformat()[:10] and _nothing_sent(visit, found)
    ),
    r"sottovoce: This version was replaced\..*": _nothing_sent,
    r"Open until (?P<day>[0-9-]+).*": lambda visit, found: found["day"] > visit.year.clock.moment.isoformat()[:10],
    r"This is version (?P<number>[0-9]) of (?P<of>[0-9])\.": lambda visit, found: (
        int(found["of"]) == len(visit.year.storage.revisions("exam")) >= int(found["number"])
    ),
    r"Arrived: exam, wave 0, at .*": _arrived,
    r"report  (?P<value>[0-9a-f]{32})": _own("report_id"),
    r"survey  (?P<value>[0-9a-f]{64})": _own("digest"),
}
"""Sentences that claim something, each with what must be so once it was told."""

ABOUT_THE_SURVEY = [
    r"Dr A\. Example, a@example\.org", r"Exams(, corrected)?", r"For a study\.", r"How your answers stay yours",
    r"Your device rolls dice over each private answer, then sends the result\. .*", r"What chance changes is not your lie\.",
    r"Say someone thinks a thing is true of 10 in 100 people like you\. After what you send, at most:", r"  10 before",
    r"  25 after one answer", r"  50 after your whole report",
    r"This survey is asked 2 times\. Each further report of yours adds epsilon 2\.20\.", r"In numbers: epsilon 2\.20 in total\.",
    r"You allow 3 for one question and 8 in total\.",
    r"Earlier reports of this device to this aggregator cost epsilon 0\.00; with this one it is 2\.20\.",
    r"What this cannot hide", r"Whoever runs this survey can see that somebody at your network address sent something, .*",
    r"The researchers see that this link was opened at your network address, and when\.",
    r"The dice are rolled once, and this device keeps the result\. .*", r"a second roll, and two reports give .*", r"Questions",
    r"  [123]\. (Have you (cheated in|helped somebody).*|Year of study)",
    r"     (Of 100 people whose true answer is yes, 75 send yes; of 100 whose answer is no, 25 .*|This answer is not .*)",
    r"Ctrl-C stops at any moment before sending, and leaves nothing behind\.", r"An example of what could be sent",
    r"An invented person, with dice of their own: .*", r"  [123]\. Invented answer: \w+\. Would be sent: \w+\.",
    r"Send rolls the dice once and sends the result\. Your answers are neither sent nor kept\.",
    r"Private answers sent: 2\. Chance had a say in each, so none of them proves anything about you\.",
    r"Sent as you gave it:", r"  Year of study Second", r"Show exactly what was sent: sottovoce respond LINK --exactly",
    r"The whole report cost epsilon 2\.20\.", r"SHA-256 [0-9a-f]{64}", r"The file answers\.json still holds your true answers: .*",
    r"The aggregator did not answer, or is busy; trying again in [0-9]+ s\.",
    r"sottovoce: (the aggregator (cannot be reached|refused).*|.*not sent.*|.*refused.*)",
]  # fmt: skip
"""Sentences that are so by the survey alone, or that only name the failure whose consequence another sentence tells."""


def told_truly(year: Year, person: Person, run: Callable[[], str]) -> str:
    """What a run tells, every line of which is known, and each claim of which holds."""
    visit = Visit(year, person, list(person.entries), year.posts)
    told = run()
    for line in filter(str.strip, told.splitlines()):
        found = [(check, match) for text, check in CHECKED.items() if (match := re.fullmatch(text, line))]
        assert found or any(re.fullmatch(text, line) for text in ABOUT_THE_SURVEY), f"nobody checks: {line!r}"
        assert all(check(visit, match) for check, match in found), f"not so: {line!r}"
    return told


def mistyped(link: str) -> str:
    """The link with its last letter wrong."""
    return link[:-1] + ("X" if link[-1] != "X" else "Y")


@pytest.fixture
def year(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Year:
    """A world before its first survey."""
    return Year(tmp_path, monkeypatch)


def test_year_of_one_survey(year: Year) -> None:
    """
    300 people with links; a correction, queues, a second correction that retires the others, a wave's end, the next
    wave, the close: what was acknowledged is counted, what was not is told, and nobody draws twice.
    """

    def answers(person: Person, link: str = "") -> str:
        return told_truly(year, person, lambda: person.answer(link))

    with year.open():
        year.on(2, 10)
        year.publish(document())
        people = year.invite(300)
        at_once, late, queued, unsure, corrected, quiet, over = (
            people[:110], people[110:140], people[140:170], people[170:190], people[190:250], people[250:280], people[280:]
        )  # fmt: skip
        for person in at_once:
            assert "has arrived" in answers(person)
        for person in queued:
            with year.losing("report"):
                assert "kept on this device" in answers(person)
        for person in unsure:
            with year.losing("receipt"):
                assert "kept on this device" in answers(person)
        assert year.stored() == 110 + 20

        # A correction of a text: every old link goes on working, and whoever has answered sees what was sent.
        year.on(3, 1)
        year.publish(document(2, title={"en": "Exams, corrected"}), "--keep")
        new = year.invite(10)
        for person in (*late, *new):
            assert "has arrived" in answers(person)
        for person in (*at_once[:10], *queued, *unsure):
            told = answers(person)
            assert "You have answered" in told
            assert "has arrived" in told
        assert year.stored() == 110 + 30 + 10 + 30 + 20

        # Links: mistyped, another person's that is spent, one's own.
        for person in corrected[:5]:
            assert "mistyped" in answers(person, mistyped(person.link))
            assert "cannot be used" in answers(person, at_once[50].link)
        for person in corrected:
            assert "has arrived" in answers(person)
        # Somebody answers with the link of the old revision, and opens that of the new one: the same receipt.
        both = at_once[20]
        other = both.link.replace(parse_link(both.link).digest, parse_link(new[0].link).digest)
        assert "You have answered" in answers(both, other)

        # Taken back by five, who are told so whatever they open.
        for person in at_once[:5]:
            assert "Withdrawn" in told_truly(year, person, lambda: person.run("respond", person.link, "--withdraw", "--yes"))  # noqa: B023
            assert "withdrawn" in answers(person)
        assert year.stored() == 200 + 60 - 5

        # A second correction retires the others: who holds an old link and has not answered is told whom to ask.
        year.on(4, 1)
        for person in quiet[:10]:
            with year.losing("report"):
                answers(person)
        year.publish(document(3, title={"en": "Exams, corrected"}, description={"en": "Exams"}), "--retire")
        for person in quiet[:10]:
            assert "has now been sent" in answers(person)
        for person in quiet[10:]:
            assert "was replaced" in answers(person)
        assert "You have answered" in answers(late[0])

        # The wave ends while some reports wait: they are refused, kept, and never drawn again.
        year.on(6, 1)
        again = year.invite(20)
        for person in again[:10]:
            with year.losing("report"):
                answers(person)
        year.on(7, 2)
        for person in again[:10]:
            told = answers(person)
            assert "kept on this device" in told
            assert "has arrived" not in told
        for person in (*again[10:], *over[:10]):
            assert "has arrived" not in answers(person)
        assert "You have answered" in answers(late[1])
        first_wave = 255 + 10
        assert year.stored() == first_wave

        # The next wave is early, then open; the same people answer again, each report a draw of its own.
        second = year.invite(40, wave=1)
        assert "Opens on" in answers(second[0])
        year.on(9, 2)
        for person in second:
            assert "has arrived" in answers(person)
        assert year.stored() == first_wave + 40

        # Closed: receipts stay, nothing is lost, and every report that was acknowledged is counted.
        year.command("survey", "close", "exam")
        assert "You have answered" in answers(second[0])
        assert "You have answered" in answers(late[2])
        counted = [person for person in year.people if person.body and person.entries[0].sent]
        assert all(year.is_stored(person.body) for person in counted)
        assert len(counted) == year.stored() == first_wave + 40

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
        assert year.storage.has_token(key, token_hash(token[:16]))
