"""The life of an answer, with a fake aggregator."""

import hashlib
import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest
import requests
from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import MEMO, Entry, Key, MemoryLedger
from sottovoce.client.memo import keep_memo
from sottovoce.client.respondent import Respondent, encode, randomize
from sottovoce.client.transport import Transport
from sottovoce.shared.accounting import Allowance
from sottovoce.shared.errors import AnswerError, BudgetExhausted, TransportError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.report import parse_report

from tests.documents import number, one_of, question, some_of, survey, vector, wrong_places
from tests.unit.client.fakes import Reply, Session, acknowledge, reading

ONE = {"epsilon": "1"}
SURVEY = parse_survey(
    survey(
        {**question(ONE), "name": "affair"},
        {**one_of(4, ONE, "rating"), "name": "mood"},
        {**some_of(3, ONE, max_choices=2), "name": "drugs"},
        {**number("0", "100", "0.5", ONE), "name": "income"},
        {**vector(2, 0, 1, 1, ONE), "name": "habits"},
    )
)
ANSWERS = {"affair": "yes", "mood": "c2", "drugs": ["c0", "c2"], "income": "37.5", "habits": {"x0": 1, "x1": "0"}}
SENTINEL = "sentinel_7731"


def respondent(*replies, asked=SURVEY, ledger=None, **options):
    session = Session(*(replies or (acknowledge,)))
    transport = Transport("https://a.example", session, lambda _: None)
    return Respondent(asked, transport, MemoryLedger() if ledger is None else ledger, **options), session


def test_answer_sends_a_report_that_the_survey_admits():
    me, session = respondent()

    receipt = me.answer(ANSWERS)

    body = session.requests[0][2]["data"]
    report = parse_report(body)
    assert all(q.admits(value) for q, value in zip(SURVEY.questions, report.values, strict=True))
    assert receipt["sha256"] == hashlib.sha256(body).hexdigest()
    assert receipt["body"].encode() == body


def test_second_answer_sends_the_first_report():
    me, session = respondent()
    me.answer(ANSWERS)
    me.answer({**ANSWERS, "affair": "no"})
    me.answer({})

    assert len({options["data"] for _, _, options in session.requests}) == 1


def test_retry_after_a_failure_sends_the_same_bytes(tmp_path):
    """Recorded before it is sent: another process on the same device sends it, without any answer."""
    me, first = respondent(requests.ConnectionError(), ledger=FileLedger(tmp_path))
    with pytest.raises(TransportError):
        me.answer(ANSWERS)

    again, second = respondent(ledger=FileLedger(tmp_path))
    assert again.drawn
    again.send()

    assert {options["data"] for _, _, options in first.requests + second.requests} == {first.requests[0][2]["data"]}


def test_nothing_is_sent_that_was_not_recorded():
    class Full(MemoryLedger):
        def record(self, *_, **__):
            raise OSError

    me, session = respondent(ledger=Full())

    with pytest.raises(OSError):  # noqa: PT011 - any
        me.answer(ANSWERS)
    assert session.requests == []


@pytest.mark.parametrize(
    "change",
    [{"affair": SENTINEL}, {"mood": [SENTINEL]}, {"drugs": SENTINEL}, {"drugs": ["c0", "c1", "c2"]},
     {"income": 7731}, {"income": 37.5}, {"habits": {"x0": SENTINEL, "x1": 0}},
     {"habits": {SENTINEL: 1}},
     {SENTINEL: "yes"}],
    ids=str,
)  # fmt: skip
def test_bad_answer_draws_nothing_and_is_not_repeated(change):
    """No randomness is read, nothing is recorded or sent, and the message repeats no answer."""
    me, session = respondent(draws=Draws(reading(b"")))

    with pytest.raises(AnswerError) as caught:
        me.answer({**ANSWERS, **change})

    assert "7731" not in str(caught.value)
    assert not any(answer in str(caught.value) for answer in ("yes", "37.5", "c2"))
    assert (me.drawn, session.requests) == (False, [])


@pytest.mark.parametrize("name", ANSWERS)
def test_missing_answer_is_named(name):
    """The question may be named, the answers may not."""
    with pytest.raises(AnswerError, match=f"question '{name}': the answer is missing"):
        encode(SURVEY, {key: answer for key, answer in ANSWERS.items() if key != name})


@pytest.mark.parametrize(
    "values",
    [(2, 0, 0, 0, (0, 0)), (0, 4, 0, 0, (0, 0)), (0, 0, 7, 0, (0, 0)), (0, 0, 8, 0, (0, 0)), (0, 0, 0, 201, (0, 0)),
     (0, 0, 0, 0, (0, 2)), (0, 0, 0, 0, 0), (-1, 0, 0, 0, (0, 0)), (True, 0, 0, 0, (0, 0)), (0, 0, 0, 0.5, (0, 0))],
)  # fmt: skip
def test_randomize_refuses_values_from_outside(values):
    """A mask of three options under a limit of two would cost more than the survey says."""
    with pytest.raises(AnswerError, match="not in its domain"):
        randomize(SURVEY, values, Draws(reading(b"")))


@pytest.mark.parametrize(
    "allowance",
    [Allowance(question=0.99), Allowance(total=4.99), Allowance(question=float("nan")), Allowance(total=float("nan"))],
)
def test_survey_beyond_the_allowance_is_refused(allowance):
    """Before any question is shown; a limit that is not a number allows nothing."""
    with pytest.raises(BudgetExhausted, match="more than"):
        respondent(allowance=allowance)


def test_survey_that_costs_exactly_what_is_allowed_is_answered():
    """The limit is the most that a person allows, not the least that she refuses."""
    dearest = max(question.epsilon for question in SURVEY.questions)
    me, _ = respondent(allowance=Allowance(question=dearest, total=SURVEY.epsilon))

    assert me.answer(ANSWERS)["body"]


def test_token_on_a_survey_open_to_all_buys_no_second_draw(tmp_path):
    ledger, bodies, headers = FileLedger(tmp_path), set(), []
    for token in ("0123456789ABCDEF", "", "FEDCBA9876543210"):
        me, session = respondent(ledger=ledger, token=token)
        bodies.add(me.answer(ANSWERS)["body"])
        headers += [options["headers"] for _, _, options in session.requests]

    assert len(bodies) == 1
    assert ledger.spent("https://a.example") == SURVEY.epsilon
    assert not any("Authorization" in each for each in headers)


def test_default_allowance_refuses_a_greedy_mechanism():
    """52 options through bitwise randomized response cost 57: an honest survey would not, a lying one could."""
    greedy = parse_survey(survey(some_of(52, {"name": "bitwise_rr", "a": "3/4", "b": "1/4"})))

    with pytest.raises(BudgetExhausted, match=r"57\.13"):
        respondent(asked=greedy)


def test_revision_buys_no_second_draw():
    ledger = MemoryLedger()
    first, _ = respondent(ledger=ledger)
    receipt = first.answer(ANSWERS)
    revised = parse_survey({**SURVEY.document, "revision": 2})
    me, session = respondent(asked=revised, ledger=ledger)

    assert me.drawn
    assert me.answer({**ANSWERS, "affair": "no"}) == receipt
    assert {options["data"] for _, _, options in session.requests} == {receipt["body"].encode()}
    assert ledger.spent("https://a.example") == SURVEY.epsilon


def test_receipt_for_other_bytes_is_refused():
    ledger = MemoryLedger()
    me, _ = respondent(lambda body: acknowledge(body + b" "), ledger=ledger)

    with pytest.raises(TransportError, match="not for the report"):
        me.answer(ANSWERS)
    assert me.drawn
    assert not any(entry.sent for entry in ledger._entries.values())


def test_send_without_a_draw_is_refused():
    with pytest.raises(BudgetExhausted, match="no report"):
        respondent()[0].send()


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        (f"https://a.example/s/vector#d={'0' * 32}", "another survey"),
        (f"https://a.example/s/other#d={SURVEY.digest[:32]}", "another survey"),
        # All 32 digits count: a survey that agrees in a few of them is made in a moment.
        (f"https://a.example/s/vector#d={SURVEY.digest[:31]}{int(SURVEY.digest[31], 16) ^ 1:x}", "another survey"),
    ],
)
def test_connect_refuses_a_survey_that_the_link_does_not_name(monkeypatch, link, reason):
    """An aggregator could otherwise swap yes and no for one person."""
    monkeypatch.setattr(requests, "Session", lambda: Session(Reply(content=SURVEY.canonical), Reply(404)))

    with pytest.raises(TransportError, match=reason):
        Respondent.connect(link, MemoryLedger())


def test_connect_takes_the_survey_that_the_link_names(monkeypatch):
    """The digest in the fragment binds every text and every number."""
    monkeypatch.setattr(requests, "Session", lambda: Session(Reply(content=SURVEY.canonical)))

    me = Respondent.connect(f"https://a.example/s/vector#d={SURVEY.digest[:32]}", MemoryLedger())

    assert me.survey == SURVEY


def test_each_wave_is_a_draw_and_a_charge_of_its_own():
    """What one aggregator was given adds up over the waves; a wave that does not exist is refused."""
    waves = [{"opens": f"2026-0{n}-01T00:00:00Z", "closes": f"2026-0{n + 1}-01T00:00:00Z"} for n in (1, 2)]
    asked = parse_survey({**survey(question(ONE)), "waves": waves})
    ledger = MemoryLedger()
    bodies = [respondent(asked=asked, ledger=ledger, wave=wave)[0].answer({"q": "yes"})["body"] for wave in (0, 1, 1)]

    assert [parse_report(body.encode()).wave for body in bodies] == [0, 1, 1]
    assert bodies[1] == bodies[2]
    assert ledger.spent("https://a.example") == 2 * asked.epsilon
    for wave in (-1, 2):
        with pytest.raises(TransportError, match="wave"):
            respondent(asked=asked, wave=wave)


MEMOIZED = parse_survey(
    survey(
        question({"name": "memoized_rr", "permanent": {"name": "coin_flip"}, "instantaneous": {"name": "coin_flip"},
                  "waves": 3}),
        {**question(ONE), "name": "fresh"},
        waves=[{"opens": f"2026-0{n}-01T00:00:00Z", "closes": f"2026-0{n + 1}-01T00:00:00Z"} for n in (1, 2, 3)],
    )
)  # fmt: skip


MEMO_KEY = Key("https://a.example", "vector", MEMO)


def test_memo_is_kept_and_charged_once_for_all_waves(ledger):
    """Whichever waves come, in whichever order; the rest is charged in each; nothing kept tells the truth."""
    kept = []
    for wave, answer in ((2, "yes"), (0, "no"), (1, "yes"), (1, "no")):
        me, _ = respondent(asked=MEMOIZED, ledger=ledger, wave=wave)
        me.answer({"q": answer, "fresh": "no"})
        kept.append(ledger.get(MEMO_KEY).body)

    assert len(set(kept)) == 1
    assert json.loads(kept[0])["q"].pop("answers") in {"00", "01", "10", "11"}
    assert '"layer":[3,4,1,4],"waves":[3,4,1,4,3]' in kept[0]
    memo, fresh = (q.epsilon for q in MEMOIZED.questions)
    assert ledger.spent("https://a.example") == pytest.approx(memo + 3 * fresh)
    assert MEMOIZED.epsilon == pytest.approx(memo + fresh)


@pytest.mark.parametrize(("body", "kept"), [("00", (0, 0)), ("01", (0, 1)), ("10", (1, 0)), ("11", (1, 1))])
def test_memo_that_was_kept_is_what_reports_are_drawn_from(body, kept):
    """Whatever is drawn later: a fresh draw in each wave would be a fresh look at the truth."""
    ledger = MemoryLedger()
    ledger.record(MEMO_KEY, Entry(MEMOIZED.digest, MEMOIZED.epsilon_of_memo, body, sent=True))

    assert keep_memo(ledger, MEMO_KEY._replace(wave=1), MEMOIZED, Draws()) == {0: kept}


def test_memo_decides_what_every_wave_reports():
    """With the instantaneous coin at its second side of four, a report is the permanent answer for that truth."""
    for memo, truth, told in [((0, 1), 0, 0), ((0, 1), 1, 1), ((1, 0), 0, 1), ((1, 0), 1, 0), ((1, 1), 0, 1)]:
        report = randomize(MEMOIZED, (truth, 0), Draws(reading(bytes(16) + b"\1" + bytes(4))), 1, {0: memo})
        assert report.values[0] == told


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [({"access": "token"}, "/questions/0/mechanism"), ({"ask": 1}, "/questions/0/mechanism"),
     ({"waves": [*MEMOIZED.document["waves"], {"opens": "2026-05-01T00:00:00Z", "closes": "2026-06-01T00:00:00Z"}]},
      "/questions/0/mechanism/waves")],
)  # fmt: skip
def test_memo_goes_with_no_token_no_set_and_no_wave_beyond_its_charge(changes, pointer):
    """Each would draw anew, or link more than is charged."""
    assert wrong_places({**MEMOIZED.document, **changes}) == [pointer]


def test_damaged_memo_is_no_reason_to_draw_again(tmp_path):
    """Another memo would be another look."""
    ledger = FileLedger(tmp_path)
    right = '{"q":{"answers":"01","layer":[3,4,1,4],"waves":[3,4,1,4,3]}}'
    wrong = [('"01"', '"02"'), ('"01"', "[0,1]"), ("[3,4,1,4]", "true"), ('"answers":"01",', ""), ("}}", "}")]
    texts = ["{", '{"q":1}', *(right.replace(*change) for change in wrong)]
    for body in ("0", "02", "010", "", "ab", "\u0660\u0661", *texts):
        ledger = FileLedger(tmp_path / str(len(list(tmp_path.iterdir()))))
        ledger.record(MEMO_KEY, Entry(MEMOIZED.digest, 1.9, body, sent=True))
        me, session = respondent(asked=MEMOIZED, ledger=ledger, wave=1)
        with pytest.raises(BudgetExhausted, match="cannot be read"):
            me.answer({"q": "yes", "fresh": "no"})
        assert session.requests == []


OTHER_COIN = {"name": "binary_rr", "a": "4/5", "b": "1/5"}
STEADY = {"name": "binary_rr", "a": "99/100", "b": "1/100"}


def memoized(*, name="q", revision=2, ahead=(), **layers):
    """Another revision of the survey with a memo: other texts, questions ahead of it, a name or layers."""
    layers = {"permanent": {"name": "coin_flip"}, "instantaneous": {"name": "coin_flip"}, "waves": 3, **layers}
    asks = {**question({"name": "memoized_rr", **layers}), "name": name, "label": {"en": "Corrected?"}}
    fresh = {**question(ONE), "name": "fresh"}
    return parse_survey(survey(*ahead, fresh, asks, revision=revision, waves=MEMOIZED.document["waves"]))


def test_memo_is_found_again_after_a_correction(ledger):
    """Other texts, another order, another question ahead of it: the same permanent answers, charged once."""
    respondent(asked=MEMOIZED, ledger=ledger)[0].answer({"q": "yes", "fresh": "no"})
    first = keep_memo(ledger, MEMO_KEY, MEMOIZED, Draws())[0]
    corrected = memoized(ahead=[{**question(ONE), "name": "added"}])
    respondent(asked=corrected, ledger=ledger, wave=1)[0].answer({"q": "no", "fresh": "no", "added": "no"})

    # Another draw would be the same one time in four, and so not thirty times.
    assert {keep_memo(ledger, MEMO_KEY, corrected, Draws())[2] for _ in range(30)} == {first}
    memo, fresh = (q.epsilon for q in MEMOIZED.questions)
    assert ledger.spent("https://a.example") == pytest.approx(memo + 3 * fresh)


@pytest.mark.parametrize("wave", [1, 2])
@pytest.mark.parametrize(
    "revised",
    [memoized(name="other"), memoized(permanent=OTHER_COIN), memoized(instantaneous=STEADY), memoized(waves=4)],
    ids=["name", "permanent", "instantaneous", "waves"],
)
def test_another_memo_is_never_drawn(revised, wave):
    """Neither a second permanent draw, nor a use of the first one that was not charged."""
    ledger = MemoryLedger()
    respondent(asked=MEMOIZED, ledger=ledger)[0].answer({"q": "yes", "fresh": "no"})
    me, session = respondent(asked=revised, ledger=ledger, wave=wave, allowance=Allowance(50, 50))

    for way in (lambda: me.drawn, lambda: me.answer({revised.questions[1].name: "yes", "fresh": "no"})):
        with pytest.raises(BudgetExhausted, match="other questions or other odds"):
            way()
    assert session.requests == []
    assert ledger.spent("https://a.example") == pytest.approx(MEMOIZED.epsilon)


def test_memo_of_an_earlier_release_is_read_with_the_survey_it_was_drawn_for():
    """Digits alone: with that survey they are found again in any revision, and without it nothing is drawn."""
    ledger = MemoryLedger()
    ledger.record(MEMO_KEY, Entry(MEMOIZED.digest, MEMOIZED.epsilon_of_memo, "10", sent=True))
    corrected = memoized()

    with pytest.raises(BudgetExhausted, match="earlier version"):
        keep_memo(ledger, MEMO_KEY, corrected, Draws())
    ledger.keep(MEMOIZED.digest, MEMOIZED.canonical)
    assert keep_memo(ledger, MEMO_KEY, corrected, Draws()) == {1: (1, 0)}


def test_forgotten_memo_ends_the_waves(ledger):
    """What it cost stays counted, the reports of waves that were answered stay as they are, and none is added."""
    sent = respondent(asked=MEMOIZED, ledger=ledger)[0].answer({"q": "yes", "fresh": "no"})
    ledger.end(MEMO_KEY, "forgotten")

    assert respondent(asked=MEMOIZED, ledger=ledger)[0].receipt == sent
    me, session = respondent(asked=MEMOIZED, ledger=ledger, wave=1)
    with pytest.raises(BudgetExhausted, match="no other is drawn"):
        me.answer({"q": "yes", "fresh": "no"})
    assert session.requests == []
    assert ledger.spent("https://a.example") == pytest.approx(MEMOIZED.epsilon)


def test_memo_kept_reads_the_same_bytes_whatever_the_truth_and_the_wave():
    """How much randomness is read, like what is kept, depends on the survey alone."""
    counts = set()
    for first, second in product(("yes", "no"), repeat=2):
        ledger = MemoryLedger()
        for wave, answer in enumerate((first, second, first)):
            taken = []

            def take(count, taken=taken):
                taken.append(count)
                return bytes(count)

            respondent(asked=MEMOIZED, ledger=ledger, wave=wave, draws=Draws(take))[0].answer(
                {"q": answer, "fresh": second}
            )
            counts.add(tuple(taken))
    assert len(counts) == 1


def test_waves_answered_at_once_share_one_memo(tmp_path):
    def answer(number):
        me, _ = respondent(asked=MEMOIZED, ledger=FileLedger(tmp_path), wave=number % 3)
        return me.answer({"q": ("yes", "no")[number % 2], "fresh": "no"})["body"]

    with ThreadPoolExecutor(8) as pool:
        bodies = set(pool.map(answer, range(24)))

    memo, fresh = (q.epsilon for q in MEMOIZED.questions)
    assert len(bodies) == 3
    assert Counter(path.suffix for path in tmp_path.iterdir()) == {".json": 4, ".survey": 1}
    assert FileLedger(tmp_path).spent("https://a.example") == pytest.approx(memo + 3 * fresh)
