"""Every step on the disk fails in turn, or is the last one: no report is lost that was sent, and none drawn twice."""

import os
from contextlib import suppress

import pytest
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import Key
from sottovoce.client.respondent import Respondent
from sottovoce.shared.errors import SurveyError

from tests.surveys import ANSWERS, survey
from tests.unit.client.aggregators import ORIGIN, Aggregator, acknowledge, refuse

ASKED = survey(access="token")
ONE, TWO, THREE = TOKENS = [letter * 16 for letter in "123"]
STEPS = ("link", "replace", "unlink", "fsync")


class Killed(BaseException):
    """The process ends here; nothing that follows happens."""


class Disk:
    """The step with this number fails, counted from 0; a kill lets none of those that follow happen either."""

    def __init__(self, patch, number=None, kill=False):
        self.count = 0
        self._number, self._kill = number, kill
        for name in STEPS:
            patch.setattr(os, name, self._watched(name, getattr(os, name)))

    def _watched(self, name, step):
        def take(*words, **options):
            number, self.count = self.count, self.count + 1
            if self._kill and self._number is not None and number >= self._number:
                raise Killed
            if number == self._number:
                raise OSError(5, "the disk has failed")
            # Slow, and what it promises is the subject of another test.
            return None if name == "fsync" else step(*words, **options)

        return take


def live(folder, aggregator):
    """One person with three links, of which the aggregator accepts the last, and who takes the report back then."""
    for token, reply in ((ONE, refuse(401, "token_invalid")), (TWO, refuse(500)), (THREE, acknowledge)):
        aggregator.reply = reply
        attempt(person(folder, aggregator, token))
    take_back(folder, aggregator)


def take_back(folder, aggregator):
    """With whichever link still has the report, the last one first."""
    for token in reversed(TOKENS):
        me = person(folder, aggregator, token)
        attempt(me, me.withdraw)


def person(folder, aggregator, token):
    """Somebody with this token, in a new process."""
    return Respondent(ASKED, aggregator, FileLedger(folder), token=token)


def attempt(me, way=None):
    """Answer, or send what was drawn with another link; what fails is told and done again later."""
    with suppress(SurveyError):
        (way or (me.resume if me.drawn_elsewhere and not me.drawn else lambda: me.answer(ANSWERS)))()


def entries(folder):
    return [FileLedger(folder).get(Key(ORIGIN, "exam", 0, token)) for token in TOKENS]


def steps_of_a_life(tmp_path):
    """How many steps on the disk there are when nothing fails."""
    with pytest.MonkeyPatch.context() as patch:
        disk = Disk(patch)
        live(tmp_path / "whole", Aggregator())
    return disk.count


@pytest.mark.parametrize("kill", [False, True], ids=["failure", "kill"])
def test_no_failure_of_a_disk_loses_a_report_or_draws_another(tmp_path, kill):
    """Then the same life goes on with a disk that works: one set of bytes, one charge, and in the end no bytes."""
    count = steps_of_a_life(tmp_path)
    assert count > 30
    for number in range(count):
        folder, aggregator = tmp_path / str(number), Aggregator()
        with pytest.MonkeyPatch.context() as patch, suppress(Killed):
            Disk(patch, number, kill)
            live(folder, aggregator)
        kept = entries(folder) if folder.exists() else []
        assert not aggregator.bodies or any(kept), "a report that was sent is not remembered"
        with pytest.MonkeyPatch.context() as patch:
            Disk(patch)
            again(folder, aggregator, kept)
        assert len(set(aggregator.bodies)) == 1
        assert FileLedger(folder).spent(ORIGIN) == ASKED.epsilon
        left = "".join(path.read_text() for path in folder.iterdir())
        assert "report_id" not in left, f"step {number} leaves the report behind"
        assert {path.suffix for path in folder.iterdir()} == {".json"}


def again(folder, aggregator, kept):
    """The same life from its beginning; a report that is being taken back is taken back, and nothing is left lying."""
    if any(entry and entry.ended for entry in kept):
        take_back(folder, aggregator)
    else:
        live(folder, aggregator)
    ledger = FileLedger(folder)
    for name in ledger.names():
        ledger.forget(name)


def test_binding_is_one_write(tmp_path):
    """Killed at any of its steps, the report stands under the new key whole, or not at all, and under the old one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        ledger, key = FileLedger(tmp_path), Key(ORIGIN, "exam", 0, ONE)
        attempt(Respondent(ASKED, Aggregator(refuse(401, "token_invalid")), ledger, token=ONE))
    entry = ledger.get(key)
    seen = set()
    for number in range(8):
        new = key._replace(token=f"{number:016}")
        with pytest.MonkeyPatch.context() as patch:
            Disk(patch, number, kill=True)
            with suppress(Killed):
                ledger.bind(new, entry)
        bound = ledger.get(new)
        seen.add(bound and bound.body)
        assert bound is None or (bound.body, bound.refused, bound.epsilon) == (entry.body, "token_invalid", 0.0)
        assert ledger.get(key) == entry
    assert seen == {None, entry.body}


def test_own_copy_is_the_last_to_go(tmp_path):
    """Killed in between, the link that the report is taken back with still has it, and can do it again."""
    with pytest.MonkeyPatch.context() as patch:
        Disk(patch)
        attempt(person(tmp_path, Aggregator(refuse(409, "closed")), ONE))
        attempt(person(tmp_path, Aggregator(refuse(409, "closed")), TWO))
    for number in range(8):
        with pytest.MonkeyPatch.context() as patch, suppress(Killed):
            Disk(patch, number, kill=True)
            FileLedger(tmp_path).end(Key(ORIGIN, "exam", 0, ONE), "withdrawn")
        own, other, _ = entries(tmp_path)
        assert own.body or not other.body
    assert not own.body


def test_report_is_not_sent_before_its_name_is_on_the_disk(tmp_path, monkeypatch):
    """A process that was killed between the two is followed by one that makes sure, or sends nothing."""
    aggregator = Aggregator()
    me = person(tmp_path, aggregator, ONE)
    link = os.link

    def killed(*words):
        link(*words)
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "link", killed)
        with pytest.raises(Killed):
            me.answer(ANSWERS)
    assert aggregator.bodies == []

    def full(_handle):
        raise OSError(5, "the disk has failed")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SurveyError, match="cannot be read"):
        person(tmp_path, aggregator, ONE).send()
    assert aggregator.bodies == []
    monkeypatch.undo()
    assert person(tmp_path, aggregator, ONE).send()["body"].encode() == aggregator.bodies[0]


@pytest.mark.parametrize("number", range(6))
def test_failure_says_that_nothing_was_sent_and_that_is_so(tmp_path, number):
    """Whatever fails while a report is recorded: the words are true."""
    aggregator = Aggregator()
    with pytest.MonkeyPatch.context() as patch:
        Disk(patch, number)
        with pytest.raises(SurveyError, match="nothing was sent"):
            person(tmp_path, aggregator, ONE).answer(ANSWERS)
    assert aggregator.bodies == []
