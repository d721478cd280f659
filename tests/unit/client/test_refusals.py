"""A lying aggregator sees one set of bytes and frees no key; no failing step of a disk loses a report or draws two."""

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier

import pytest
from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import Entry, Key
from sottovoce.client.respondent import Respondent
from sottovoce.shared.errors import AnsweredPersonally, BudgetExhausted, DrawnElsewhere, SurveyError, TransportError

from tests.surveys import ANSWERS, months, survey
from tests.unit.client.aggregators import LIES, ORIGIN, Aggregator, acknowledge, refuse

ASKED = survey(access="token")
OTHERWISE = {"cheated": "no", "reason": "fun", "year": "first"}
TOKENS = [f"{number:016}" for number in range(12)]
FINAL = ("token", "closed", "conflict", "gone", "malformed", "unknown")


def person(ledger, aggregator, token=TOKENS[0], **options):
    return Respondent(options.pop("asked", ASKED), aggregator, ledger, token=token, **options)


def answer(me, answers=ANSWERS):
    """What the same person does, whatever it takes; False if it was not acknowledged."""
    try:
        return bool(me.resume() if me.drawn_elsewhere and not me.drawn else me.answer(answers))
    except TransportError:
        return False


class Meanwhile(Draws):
    """Chance that takes its time: something happens before the first draw."""

    def __init__(self, happens):
        super().__init__()
        self._happens = happens

    def identity(self):
        self._happens()
        return super().identity()


def key_of(token, wave=0):
    return Key(ORIGIN, "exam", wave, token)


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_liar_that_refuses_every_token_sees_one_set_of_bytes(ledger, lie):
    """Twelve tokens, each tried twice, with answers that change: one report, charged once, and never acknowledged."""
    liar = Aggregator(lie)
    arrived = [answer(person(ledger, liar, token), each) for token in TOKENS for each in (ANSWERS, OTHERWISE)]

    assert (len(liar.bodies), len(set(liar.bodies))) == (24, 1)
    assert not any(arrived)
    assert ledger.spent(ORIGIN) == ASKED.epsilon
    assert not any(ledger.get(key_of(token)).sent for token in TOKENS)


@pytest.mark.parametrize("lie", LIES)
def test_only_a_refusal_for_good_is_one(ledger, lie):
    """What may pass waits as before; a strange reply is no refusal, and no receipt either."""
    answer(person(ledger, Aggregator(LIES[lie])))
    entry = ledger.get(key_of(TOKENS[0]))

    assert bool(entry.refused) == (lie in FINAL)
    assert entry.waiting


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_receipt_for_these_bytes_ends_it_whatever_came_before(ledger, lie):
    aggregator = Aggregator(lie)
    answer(person(ledger, aggregator))
    aggregator.reply = acknowledge
    assert answer(person(ledger, aggregator, TOKENS[1]))

    people = [person(ledger, aggregator, token) for token in TOKENS[:2]]
    assert len(set(aggregator.bodies)) == 1
    assert [me.receipt["body"].encode() for me in people] == [aggregator.bodies[0]] * 2
    assert [me.refused for me in people] == ["", ""]
    assert not person(ledger, aggregator, TOKENS[2]).drawn_elsewhere


def test_nothing_is_drawn_before_somebody_says_who_it_is(ledger):
    """Neither sent again nor drawn anew by itself."""
    liar = Aggregator(refuse(401, "token_invalid"))
    answer(person(ledger, liar))
    other = person(ledger, liar, TOKENS[1])

    assert other.drawn_elsewhere
    with pytest.raises(BudgetExhausted, match="was that you"):
        other.answer(ANSWERS)
    assert len(liar.bodies) == 1
    assert ledger.get(key_of(TOKENS[1])) is None


def test_report_of_another_link_that_comes_while_one_is_drawn_is_asked_for(ledger):
    """Both programs looked before either recorded: the second records nothing, sends nothing and costs nothing."""
    liar = Aggregator(refuse(401, "token_invalid"))
    late = person(ledger, liar, TOKENS[1])
    late._draws = Meanwhile(lambda: answer(person(ledger, liar)))
    with pytest.raises(DrawnElsewhere, match="was that you"):
        late.answer(OTHERWISE)

    assert len(liar.bodies) == 1
    assert ledger.get(key_of(TOKENS[1])) is None
    assert ledger.spent(ORIGIN) == ASKED.epsilon
    assert not answer(late)
    assert len(set(liar.bodies)) == 1


def test_links_answered_at_once_draw_one_report(tmp_path):
    """Twelve programs, each with a link of its own, started on an empty folder: a liar sees one set of bytes."""
    liar, start = Aggregator(refuse(401, "token_invalid")), Barrier(len(TOKENS))

    def begin(token):
        me = person(FileLedger(tmp_path), liar, token)
        me._draws = Meanwhile(start.wait)
        with suppress(DrawnElsewhere, TransportError):
            me.answer(ANSWERS)

    with ThreadPoolExecutor(len(TOKENS)) as pool:
        list(pool.map(begin, TOKENS))

    assert len(liar.bodies) == 1
    assert FileLedger(tmp_path).spent(ORIGIN) == ASKED.epsilon


def test_two_people_on_one_device_have_two_reports(ledger):
    """The second says that it was not them: an entry of their own, and the first one's stays as it is."""
    aggregator = Aggregator(refuse(401, "token_invalid"))
    answer(person(ledger, aggregator))
    first = ledger.get(key_of(TOKENS[0]))
    aggregator.reply = acknowledge
    person(ledger, aggregator, TOKENS[1], another_person=True).answer(OTHERWISE)

    assert len(set(aggregator.bodies)) == 2
    assert ledger.get(key_of(TOKENS[0])) == first
    assert ledger.get(key_of(TOKENS[1])).sent
    assert ledger.spent(ORIGIN) == 2 * ASKED.epsilon
    # The first one's report is still offered to a third link, since nobody has acknowledged it.
    assert person(ledger, aggregator, TOKENS[2]).drawn_elsewhere


def test_report_of_another_wave_or_survey_is_nobody_elses(ledger):
    liar = Aggregator(refuse(409, "closed"))
    waves = survey(access="token", waves=months(2))
    answer(person(ledger, liar, asked=waves))
    other = survey(access="token", name="other")

    assert not person(ledger, liar, TOKENS[1], asked=waves, wave=1).drawn_elsewhere
    assert not person(ledger, liar, TOKENS[1], asked=other).drawn_elsewhere
    assert person(ledger, liar, TOKENS[1], asked=waves).drawn_elsewhere


def test_correction_after_a_refusal_sends_what_was_drawn_for_the_first_text(ledger):
    """The link of revision 2, with its own token and other choices in another order: the same bytes, and a receipt."""
    aggregator = Aggregator(refuse(409, "closed"))
    answer(person(ledger, aggregator))
    questions = list(reversed(ASKED.document["questions"]))
    corrected = survey(access="token", revision=2, questions=questions, title={"en": "Corrected"})
    aggregator.reply = acknowledge
    sent = person(ledger, aggregator, TOKENS[1], asked=corrected).resume()

    assert len(set(aggregator.bodies)) == 1
    assert sent["digest"] == ASKED.digest
    assert person(ledger, aggregator, asked=corrected).receipt == sent


@pytest.mark.parametrize("token", TOKENS[:3])
def test_report_taken_back_or_forgotten_is_gone_under_every_link(tmp_path, token):
    asked = survey(
        access="token", questions=[{**ASKED.document["questions"][0], "name": f"q{n}"} for n in range(4)], ask=2
    )
    ledger, aggregator = FileLedger(tmp_path), Aggregator(refuse(401, "token_invalid"))
    for each in TOKENS[:3]:
        me = person(ledger, aggregator, each, asked=asked)
        given = {question.name: "yes" for question in me.asked}
        answer(me, given)
    person(ledger, aggregator, token, asked=asked).withdraw()

    assert {path.suffix for path in tmp_path.iterdir()} == {".json"}
    assert not any("report_id" in path.read_text() for path in tmp_path.iterdir())
    assert ledger.spent(ORIGIN) == asked.epsilon
    for each in TOKENS[:3]:
        with pytest.raises(BudgetExhausted, match="withdrawn"):
            answer(person(ledger, aggregator, each, asked=asked))


def test_links_opened_at_once_bind_one_report(tmp_path):
    aggregator = Aggregator(refuse(401, "token_invalid"))
    answer(person(FileLedger(tmp_path), aggregator))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda token: answer(person(FileLedger(tmp_path), aggregator, token)), TOKENS * 2))

    assert len(set(aggregator.bodies)) == 1
    assert FileLedger(tmp_path).spent(ORIGIN) == ASKED.epsilon


def test_binding_does_not_bring_back_what_is_wiped_at_the_same_time(tmp_path):
    for number in range(8):
        folder = tmp_path / str(number)
        aggregator = Aggregator(refuse(401, "token_invalid"))
        answer(person(FileLedger(folder), aggregator))

        def bind(token, folder=folder):
            ledger = FileLedger(folder)
            entry = ledger.unaccepted(key_of(token))
            return entry and ledger.bind(key_of(token), entry)

        with ThreadPoolExecutor(6) as pool:
            bound = [pool.submit(bind, token) for token in TOKENS[1:3]]
            forgotten = pool.submit(FileLedger(folder).end, key_of(TOKENS[0]), "forgotten")
            bound += [pool.submit(bind, token) for token in TOKENS[3:6]]
        assert forgotten.result() is None
        assert not any(each.result() and each.result().ended for each in bound)
        assert not any("report_id" in path.read_text() for path in folder.iterdir())


@pytest.mark.parametrize("ended", [False, True])
def test_survey_that_turns_open_gets_no_second_draw(ledger, ended):
    """It was answered with a personal link, and even forgotten here; now it claims that it is for all."""
    aggregator = Aggregator(acknowledge)
    person(ledger, aggregator).answer(ANSWERS)
    if ended:
        ledger.end(key_of(TOKENS[0]), "forgotten")
    anybody = Respondent(survey(access="open"), aggregator, ledger)

    for refused in (lambda: anybody.drawn, lambda: anybody.answer(OTHERWISE)):
        with pytest.raises(AnsweredPersonally):
            refused()
    with pytest.raises(AnsweredPersonally):
        ledger.record(key_of(""), Entry("d", 1.0, "x"))
    assert ledger.get(key_of("")) is None
    assert len(set(aggregator.bodies)) == 1


ONE, TWO, THREE = LINKS = [letter * 16 for letter in "123"]
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
        def steps(*words, **options):
            number, self.count = self.count, self.count + 1
            if self._kill and self._number is not None and number >= self._number:
                raise Killed
            if number == self._number:
                raise OSError(5, "the disk has failed")
            # Slow, and what it promises is the subject of another test.
            return None if name == "fsync" else step(*words, **options)

        return steps


def live(folder, aggregator):
    """One person with three links, of which the aggregator accepts the last, and who takes the report back then."""
    for token, reply in ((ONE, refuse(401, "token_invalid")), (TWO, refuse(500)), (THREE, acknowledge)):
        aggregator.reply = reply
        attempt(restarted(folder, aggregator, token))
    take_back(folder, aggregator)


def take_back(folder, aggregator):
    """With whichever link still has the report, the last one first."""
    for token in reversed(LINKS):
        me = restarted(folder, aggregator, token)
        attempt(me, me.withdraw)


def restarted(folder, aggregator, token):
    return Respondent(ASKED, aggregator, FileLedger(folder), token=token)


def attempt(me, way=None):
    """Answer, or send what was drawn with another link; what fails is told and done again later."""
    with suppress(SurveyError):
        (way or (me.resume if me.drawn_elsewhere and not me.drawn else lambda: me.answer(ANSWERS)))()


def entries(folder):
    return [FileLedger(folder).get(Key(ORIGIN, "exam", 0, token)) for token in LINKS]


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
        attempt(restarted(tmp_path, Aggregator(refuse(409, "closed")), ONE))
        attempt(restarted(tmp_path, Aggregator(refuse(409, "closed")), TWO))
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
    me = restarted(tmp_path, aggregator, ONE)
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
        restarted(tmp_path, aggregator, ONE).send()
    assert aggregator.bodies == []
    monkeypatch.undo()
    assert restarted(tmp_path, aggregator, ONE).send()["body"].encode() == aggregator.bodies[0]


@pytest.mark.parametrize("number", range(6))
def test_failure_says_that_nothing_was_sent_and_that_is_so(tmp_path, number):
    aggregator = Aggregator()
    with pytest.MonkeyPatch.context() as patch:
        Disk(patch, number)
        with pytest.raises(SurveyError, match="nothing was sent"):
            restarted(tmp_path, aggregator, ONE).answer(ANSWERS)
    assert aggregator.bodies == []
