"""Every sentence that the terminal tells in ``test_year``, and what must be so once it was told.

A sentence that stands in neither list fails the test: nobody would have checked it.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from sottovoce.client.ledger import Entry

from tests.journey.year import Person, Year


@dataclass
class Visit:
    """One run of the program by one person: how things stood before it; ``entry`` is what the device holds after it."""

    year: Year
    person: Person
    before: list[Entry]
    posts: int

    @property
    def entry(self) -> Entry:
        (entry,) = self.person.entries
        return entry

    def has_arrived(self) -> bool:
        """The device's report is counted, and the device knows."""
        return self.year.is_stored(self.person.body) and self.entry.sent

    def has_sent_nothing(self) -> bool:
        """No report went out, and none was drawn."""
        return self.year.posts == self.posts and len(self.person.entries) == len(self.before)


Check = Callable[[Visit, re.Match[str]], bool]


def _sent_now(visit: Visit, _: re.Match[str]) -> bool:
    return not visit.before[0].sent and visit.has_arrived()


def _withdrawn(visit: Visit, _: re.Match[str]) -> bool:
    return visit.entry.ended == "withdrawn" and not visit.year.is_stored(visit.before[0].body)


def _still_withdrawn(visit: Visit, _: re.Match[str]) -> bool:
    return visit.entry.ended == "withdrawn" and visit.year.posts == visit.posts


def _closed(visit: Visit, found: re.Match[str]) -> bool:
    return found["day"] <= visit.year.today and visit.has_sent_nothing()


def _early(visit: Visit, found: re.Match[str]) -> bool:
    return found["day"] > visit.year.today and visit.has_sent_nothing()


def _version(visit: Visit, found: re.Match[str]) -> bool:
    return int(found["of"]) == len(visit.year.storage.revisions("exam")) >= int(found["number"])


def _own(name: str) -> Check:
    return lambda visit, found: json.loads(visit.person.body)[name] == found["value"]


CLAIMS: dict[str, Check] = {
    r"Thank you\. Your answers have arrived\.": lambda visit, _: visit.has_arrived(),
    r"Arrived: exam, wave 0, at .*": lambda visit, _: visit.has_arrived(),
    r"You have already answered this survey on this device\. .*": lambda visit, _: len(visit.before) == 1,
    r"Your earlier answers have now been sent\.": _sent_now,
    r"The server refused your earlier answers\. .*unchanged\.": lambda visit, _: bool(visit.before[0].refused),
    r"Your answers are kept on this device and are never drawn again\. .*": lambda visit, _: visit.entry.waiting,
    r"Withdrawn: exam, wave 0\.": _withdrawn,
    r"Error: this survey was answered .* and the report withdrawn; no other is drawn\.": _still_withdrawn,
    r"Error: This link cannot be used: .*": lambda visit, _: visit.has_sent_nothing(),
    r"Error: .*link.*(mistyped|missing).*": lambda visit, _: visit.has_sent_nothing(),
    r"Error: This version was replaced\..*": lambda visit, _: visit.has_sent_nothing(),
    r"Error: nothing was sent\. To send .*": lambda visit, _: visit.has_sent_nothing(),
    r"Error: This survey has been closed since (?P<day>[0-9-]+).*\.": _closed,
    r"Error: Opens on (?P<day>[0-9-]+).*": _early,
    r"Open until (?P<day>[0-9-]+).*": lambda visit, found: found["day"] > visit.year.today,
    r"This is version (?P<number>[0-9]) of (?P<of>[0-9])\.": _version,
    r"report  (?P<value>[0-9a-f]{32})": _own("report_id"),
    r"survey  (?P<value>[0-9a-f]{64})": _own("digest"),
}
"""Sentences that claim something about what happened."""

SO_BY_THE_SURVEY = [
    r"Dr A\. Example, a@example\.org",
    r"Exams(, corrected)?",
    r"For a study\.",
    r"How your answers stay yours",
    r"Randomized: 2 of your 3 answers\.",
    r"How long you took can be seen\. If some questions only appear after certain answers, this can hint at them\.",
    r"This survey is asked 2 times\. Each time you answer again adds epsilon 2\.20\.",
    r"Over many people, chance evens out\. If chance changes your answer, you have not lied\.",
    r"Someone 10% sure of something about you is at most 25% sure after one private answer, 50% after all\.",
    r"Your device rolls dice for each\. .*",
    r"The server sees (your network address|that this link was opened at your network address).*",
    r"Your device rolls dice over each private answer, then sends the result\. .*",
    r"If chance changes your answer, you have not lied\.",
    r"Say someone thinks a thing is true of 10 in 100 people like you\. After what you send, at most:",
    r"  (10 before|25 after one answer|50 after your whole report)",
    r"This survey is asked 2 times\. Each further report of yours adds epsilon 2\.20\.",
    r"In numbers: epsilon 2\.20 in total\. You allow 3 for one question and 8 in total\.",
    r"Earlier answers from this device to this server cost epsilon 0\.00; with these answers it is 2\.20\.",
    r"What this cannot hide",
    r"The people who run this survey can see that a person at your network address sent something, .*",
    r"The researchers see that this link was opened at your network address, and when\.",
    r"The dice are rolled once, and this device keeps the result\. .*",
    r"Questions",
    r"  [123]\. (Have you (cheated in|helped somebody).*|Year of study)",
    r"     Of 100 people whose true answer is yes, 75 send yes; of 100 whose answer is no, 25 .*",
    r"     If yes is true, 75 of 100 people send yes; if not, 25 do\. .*",
    r"     (This answer is not .*|Sent unchanged; divides the results into groups\.)",
    r"Press Ctrl-C to stop at any time before sending\. Nothing is stored then\.",
    r"An example of what could be sent",
    r"An invented person, with dice of their own: .*",
    r"  [123]\. Invented answer: \w+\. Would be sent: \w+\.",
    r"Send rolls the dice once and sends the result\. Your answers are neither sent nor kept\.",
    r"Private answers sent: 2\. Chance had a say: none proves anything about you\.",
    r"You can withdraw until the survey closes\.",
    r"You can withdraw them until 20[0-9: -]+ UTC\.",
    r"Sent unchanged:",
    r"  Year of study Second",
    r"Show exactly what was sent: sottovoce respond LINK --exactly",
    r"The private answers cost epsilon 2\.20 together; epsilon 0 would give nothing away\.",
    r"SHA-256 [0-9a-f]{64}",
    r"The file answers\.json still holds your true answers: .*",
    r"Ask Dr A\. Example, a@example\.org\.",
]
"""Sentences that are so by the survey alone, whatever happens."""

FAILURES = [
    r"The server did not answer, or is busy; trying again in [0-9]+ s\.",
    r"Error: the aggregator (cannot be reached|refused).*",
]
"""Sentences that only name a failure; what follows from it is told by another one."""


def told_truly(year: Year, person: Person, run: Callable[[], str]) -> str:
    """What a run tells, every line of which is known, and each claim of which holds."""
    visit = Visit(year, person, list(person.entries), year.posts)
    told = run()
    for line in filter(str.strip, told.splitlines()):
        claims = [(check, found) for text, check in CLAIMS.items() if (found := re.fullmatch(text, line))]
        known = any(re.fullmatch(text, line) for text in (*SO_BY_THE_SURVEY, *FAILURES))
        assert claims or known, f"nobody checks: {line!r}"
        assert all(check(visit, found) for check, found in claims), f"not so: {line!r}"
    return told
