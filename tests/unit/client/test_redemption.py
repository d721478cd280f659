"""An invitation is redeemed once, for all waves; what was signed is sent with the report and nothing else."""

import hashlib
import json
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from sottovoce.client.delivery import take_back
from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import MEMO, REDEMPTION, SIGNERS, Key, MemoryLedger
from sottovoce.client.memo import keep_memo
from sottovoce.client.redemption import prepare
from sottovoce.client.respondent import Respondent
from sottovoce.shared.blind_signatures import blind
from sottovoce.shared.errors import AnswerError, BudgetExhausted, NotYet, SurveyError, TransportError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.redemption import Redemption, dump_reply, message, parse_request, spell

from tests.documents import question, survey as document
from tests.unit.client.fakes import Reply, reading
from tests.unit.client.issuer import ANSWERS, INVITATION, MODULI, ORIGIN, Issuer, blind_survey, sign
from tests.unit.client.test_refusals import Disk, Killed

SURVEY = blind_survey()
WAVES = blind_survey(MODULI[:2])
KEY = Key(ORIGIN, SURVEY.name, 0, INVITATION)
NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)


@pytest.fixture
def issuer():
    return Issuer(SURVEY)


def person(issuer, ledger, **options):
    options = {"token": INVITATION, **options}
    return Respondent(options.pop("survey", issuer.survey), issuer.transport, ledger, **options)


def test_report_is_admitted_with_a_signature_that_fits_no_redemption(ledger, issuer):
    """The id that was signed is the report's; neither it nor the signature was in what the issuer saw before."""
    receipt = person(issuer, ledger).answer(ANSWERS)
    (_, _, _, asked), (_, _, headers, body) = issuer.seen
    signature = headers["Authorization"].removeprefix("Blind ")

    assert issuer.paths() == ["redeem", "reports"]
    assert receipt["report_id"] == json.loads(body)["report_id"]
    assert receipt["report_id"] not in asked.decode()
    assert signature not in asked.decode()
    assert INVITATION not in str(headers)


def test_redeeming_and_sending_share_no_connection_with_anything(ledger, issuer):
    """One connection would say whose report it is."""
    me = person(issuer, ledger)
    me.redeem()
    with suppress(TransportError):
        me.standing()
    me.answer(ANSWERS)
    numbers = {path: number for number, path, _, _ in issuer.seen}

    assert len(set(numbers.values())) == len(numbers) == 3
    assert all(h["Connection"] == "close" for _, path, h, _ in issuer.seen if path.endswith(("redeem", "reports")))


def test_all_waves_are_redeemed_at_the_first_visit(ledger):
    issuer = Issuer(WAVES)
    person(issuer, ledger).answer(ANSWERS)
    person(issuer, ledger, wave=1).answer(ANSWERS)

    assert issuer.paths() == ["redeem", "reports", "reports"]
    assert len(issuer.admitted) == 2


def test_bytes_are_an_id_a_salt_and_a_factor_by_rejection():
    """For each wave in turn: 16, 48, and as many as the modulus has until they are below it."""
    parts = [
        bytes([1]) * 16,
        bytes([2]) * 48,
        b"\xff" * 256,
        b"\1" * 256,
        bytes([3]) * 16,
        bytes([4]) * 48,
        b"\5" * 384,
    ]
    read = reading(b"".join(parts))
    first, second = prepare((MODULI[0], MODULI[2]), Draws(read))

    assert read.rest == b""
    assert (first.report_id, second.report_id) == ("01" * 16, "03" * 16)
    signed = message(MODULI[0], parts[0])
    assert first.blinded == blind(signed, MODULI[0], parts[1], int.from_bytes(parts[3]))


def test_lost_reply_is_asked_for_again_with_the_same_bytes(ledger, issuer):
    """Ids are drawn once for an invitation, and answers do not reach anybody meanwhile."""
    honest, issuer.redeem = issuer.redeem, lambda request: (honest(request), Reply(502))[1]
    for _ in range(2):
        with pytest.raises(TransportError):
            person(issuer, ledger).answer(ANSWERS)
    issuer.redeem = honest
    person(issuer, ledger).answer(ANSWERS)

    assert len({body for _, path, _, body in issuer.seen if path.endswith("redeem")}) == 1
    assert ledger.spent(ORIGIN) == SURVEY.epsilon


@pytest.mark.parametrize("reason", ["already_redeemed", "token_invalid"])
def test_refused_invitation_is_told_in_words_and_draws_nothing(ledger, reason, issuer):
    """What was prepared stays, for a refusal that passes."""
    issuer.redeem = lambda _: Reply(409, {"code": reason})
    with pytest.raises(TransportError, match=r"this invitation .* Nothing was sent"):
        person(issuer, ledger).answer(ANSWERS)

    assert ledger.get(KEY) is None
    assert issuer.paths() == ["redeem"]


def test_two_programs_send_what_the_first_one_drew(ledger, issuer):
    one, two = person(issuer, ledger), person(issuer, ledger)
    honest = issuer.redeem

    def meanwhile(request):
        issuer.redeem = honest
        two.redeem()
        return honest(request)

    issuer.redeem = meanwhile
    one.redeem()
    two.answer(ANSWERS)
    one.answer({"q": "no"})

    assert len({body for _, path, _, body in issuer.seen if path.endswith("redeem")}) == 1
    assert len(issuer.admitted) == 1


def lies(kind):
    """What a lying aggregator answers to a request."""
    other = MODULI[1]
    return {
        "another key": lambda request: [sign(each, other) for each in request.blinded],
        "marked": lambda request: [bytes(255) + b"\2" for _ in request.blinded],
        "unsigned": lambda request: list(request.blinded),
    }[kind]


@pytest.mark.parametrize("kind", ["another key", "marked", "unsigned"])
def test_signature_that_is_none_burns_the_ids(ledger, kind, issuer):
    """It is told, no report is drawn, and an honest answer comes too late: no other ids are drawn."""
    honest, lie = issuer.redeem, lies(kind)
    issuer.redeem = lambda request: Reply(content=dump_reply(Redemption(SURVEY.name, tuple(lie(request)))))
    with pytest.raises(BudgetExhausted, match="could mark you"):
        person(issuer, ledger).answer(ANSWERS)
    issuer.redeem = honest
    with pytest.raises(BudgetExhausted, match="could mark you"):
        person(issuer, ledger).answer(ANSWERS)

    assert issuer.paths() == ["redeem"]
    assert ledger.get(KEY) is None
    assert ledger.get(KEY._replace(wave=REDEMPTION)).body == "burnt"


@pytest.mark.parametrize(
    "content",
    [b"{}", b"<html>", dump_reply(Redemption("other", (bytes(255) + b"\2",))), dump_reply(Redemption("vector", ()))],
)
def test_reply_that_is_for_something_else_burns_nothing(ledger, content, issuer):
    """A wall of a hotel's network answers so; later the same bytes are sent."""
    honest, issuer.redeem = issuer.redeem, lambda _: Reply(content=content)
    with pytest.raises(TransportError, match="signatures"):
        person(issuer, ledger).answer(ANSWERS)
    issuer.redeem = honest
    person(issuer, ledger).answer(ANSWERS)
    assert len(issuer.admitted) == 1


def test_honest_answer_that_another_program_had_is_not_burnt(ledger, issuer):
    """Only what is still prepared is."""
    honest = issuer.redeem

    def lie(request):
        issuer.redeem = honest
        person(issuer, ledger).redeem()
        return Reply(content=dump_reply(Redemption(SURVEY.name, request.blinded)))

    issuer.redeem = lie
    person(issuer, ledger).redeem()
    person(issuer, ledger).answer(ANSWERS)
    assert len(issuer.admitted) == 1


@pytest.mark.parametrize("invitation", [INVITATION, "ZZZZ111122223333"])
def test_another_key_for_a_wave_is_refused_with_both_versions(ledger, invitation):
    """Before anything is asked for; also with a second invitation."""
    issuer = Issuer(WAVES)
    person(issuer, ledger).redeem()
    other = blind_survey((MODULI[0], 2**2047 + 2111 + 2), revision=2)
    asked = len(issuer.seen)
    for survey in (other, WAVES, other):
        with pytest.raises(BudgetExhausted, match="tell people apart"):
            person(issuer, ledger, survey=survey, token=invitation).answer(ANSWERS)

    assert len(issuer.seen) == asked
    assert ledger.spent(ORIGIN) == 0


@pytest.mark.parametrize("access", ["token", "open"])
def test_survey_with_signatures_is_never_taken_for_one_without(ledger, access, issuer):
    """The invitation would be sent beside the report; what was drawn before stays what it is."""
    person(issuer, ledger).redeem()
    plain = parse_survey(document(question({"name": "coin_flip"}), access=access))
    asked = len(issuer.seen)
    for token in (INVITATION, "ZZZZ111122223333"):
        with pytest.raises(TransportError, match="contradict each other"):
            person(issuer, ledger, survey=plain, token=token)
    assert len(issuer.seen) == asked

    person(issuer, ledger).answer(ANSWERS)
    assert person(issuer, ledger).receipt is not None


def test_correction_with_the_same_keys_uses_what_was_signed(ledger):
    issuer = Issuer(WAVES)
    person(issuer, ledger).redeem()
    corrected = blind_survey(MODULI[:2], revision=2, title={"en": "Corrected"})
    person(issuer, ledger, survey=corrected).answer(ANSWERS)

    assert issuer.paths() == ["redeem", "reports"]


def test_wave_that_came_later_is_not_covered(ledger):
    """Its invitation was redeemed for one; the keys that are known from then on are those of both."""
    issuer = Issuer(WAVES)
    person(issuer, ledger, survey=SURVEY).redeem()
    with pytest.raises(BudgetExhausted, match="other waves"):
        person(issuer, ledger, wave=1).answer(ANSWERS)
    keys = [hashlib.sha256(each.to_bytes(256)).hexdigest() for each in MODULI[:2]]
    assert json.loads(ledger.get(Key(ORIGIN, SURVEY.name, SIGNERS)).body) == {"keys": keys}


def test_wrong_answer_draws_nothing(ledger, issuer):
    with pytest.raises(AnswerError):
        person(issuer, ledger).answer({"q": "perhaps"})
    person(issuer, ledger).answer(ANSWERS)
    assert issuer.paths() == ["redeem", "reports"]


def test_nothing_that_opens_the_blinding_outlives_its_use(tmp_path):
    """After redeeming only ids and signatures are on the disk, after the receipt no signature; never the invitation."""
    ledger, issuer = FileLedger(tmp_path), Issuer(WAVES)
    me = person(issuer, ledger)
    secrets, read = [], Draws().exactly
    me._draws = Draws(lambda count: secrets.append(read(count)) or secrets[-1])
    me.redeem()
    blinded = parse_request(issuer.seen[0][3]).blinded
    hidden = [spell(each) for each in blinded] + [each.hex() for each in secrets if len(each) > 16]
    assert [each for each in [*hidden, "inverse", "encoded"] if each in on_disk(tmp_path)] == []
    me.answer(ANSWERS)
    signature = issuer.seen[-1][2]["Authorization"].removeprefix("Blind ")
    assert signature not in on_disk(tmp_path)
    assert INVITATION not in on_disk(tmp_path)


def test_signature_is_wiped_once_its_report_is_recorded(ledger):
    issuer = Issuer(WAVES)
    person(issuer, ledger).record(ANSWERS)
    kept = json.loads(ledger.get(KEY._replace(wave=REDEMPTION)).body)["waves"]
    assert kept[0] is None
    assert set(kept[1]) == {"id", "signature"}


def on_disk(folder):
    return "".join(path.read_text() for path in folder.rglob("*") if path.is_file())


def test_invitation_never_stands_beside_a_report(ledger, issuer):
    """A second window that sends once more, when the signature is wiped: that would say whose report it is."""
    first = person(issuer, ledger)
    first.record(ANSWERS)
    receipts = [first.send(), first.send(), person(issuer, ledger).answer(ANSWERS)]
    sent = [headers.get("Authorization", "") for _, path, headers, _ in issuer.seen if path.endswith("reports")]

    assert receipts[0] == receipts[1] == receipts[2]
    assert sent[0].startswith("Blind ")
    assert sent[1:] == ["", ""]


def test_kill_before_the_wiping_leaves_one_copy_after_the_next_visit(ledger, monkeypatch):
    """Also where the report waits for its moment, and nothing is sent."""
    issuer = Issuer(blind_survey(privacy={"send_within_hours": 24}))
    with monkeypatch.context() as killed:
        killed.setattr("sottovoce.client.respondent.forget_signature", lambda *_: None)
        person(issuer, ledger, clock=lambda: NOW).record(ANSWERS)
    with pytest.raises(NotYet):
        person(issuer, ledger, clock=lambda: datetime.fromtimestamp(0, UTC)).send()

    assert json.loads(ledger.get(KEY._replace(wave=REDEMPTION)).body)["waves"] == [None]
    assert ledger.get(KEY).signature


def test_memo_stands_under_no_invitation(ledger):
    """With a second invitation the same permanent answers are used, and charged once."""
    layers = {"name": "memoized_rr", "permanent": {"name": "coin_flip"}, "instantaneous": {"name": "coin_flip"}}
    survey = blind_survey(MODULI[:2], mechanism={**layers, "waves": 2})
    kept = [keep_memo(ledger, KEY._replace(token=token), survey, Draws()) for token in (INVITATION, "Z" * 16)]
    issuer = Issuer(survey)
    person(issuer, ledger).answer(ANSWERS)

    assert kept[0] == kept[1]
    assert ledger.get(Key(ORIGIN, survey.name, MEMO)).epsilon == survey.epsilon_of_memo
    assert ledger.spent(ORIGIN) == pytest.approx(survey.epsilon_of_memo + survey.epsilon_of_wave)


def test_report_waits_for_a_moment_that_was_drawn_with_it(ledger):
    survey = blind_survey(privacy={"send_within_hours": 24})
    issuer = Issuer(survey)
    with pytest.raises(NotYet) as told:
        person(issuer, ledger, clock=lambda: NOW).answer(ANSWERS)
    moment = told.value.send_at
    for seconds in (0, moment - 1):
        with pytest.raises(NotYet):
            person(issuer, ledger, clock=lambda seconds=seconds: datetime.fromtimestamp(seconds, UTC)).send()
    assert issuer.paths() == ["redeem"]
    person(issuer, ledger, clock=lambda: datetime.fromtimestamp(moment, UTC)).send()

    assert NOW.timestamp() <= moment <= NOW.timestamp() + 24 * 3600
    assert issuer.paths() == ["redeem", "reports"]
    assert ledger.get(KEY).sent


@pytest.mark.parametrize(
    ("closes", "tape", "waits"),
    [("2026-01-05T12:05:03Z", b"\0\3", 3), ("2026-01-05T12:05:00Z", b"\0", 0), ("2026-01-05T12:00:01Z", b"\0", 0)],
)
def test_moment_comes_after_the_values_and_well_before_the_wave_ends(closes, tape, waits):
    """One draw below the seconds that are left until five minutes before it, and one more; later it does not wait."""
    ledger, survey = MemoryLedger(), blind_survey(closes=closes, privacy={"send_within_hours": 1})
    issuer = Issuer(survey)
    me = person(issuer, ledger, clock=lambda: NOW)
    me.redeem()
    # The coin's two bits, then 0 .. 3.
    me._draws = Draws(read := reading(tape))
    me.record(ANSWERS)
    assert (read.rest, ledger.get(KEY).send_at) == (b"", int(NOW.timestamp()) + waits)


def test_withdrawing_what_was_never_tried_stays_on_the_device(ledger):
    """Nobody hears of an id that nobody has seen; and it is never sent."""
    issuer = Issuer(blind_survey(privacy={"send_within_hours": 24}))
    me = person(issuer, ledger, clock=lambda: NOW)
    me.record(ANSWERS)
    me.withdraw()
    later = datetime(2030, 1, 1, tzinfo=UTC)
    with pytest.raises(BudgetExhausted, match="withdrawn"):
        person(issuer, ledger, clock=lambda: later).send()

    assert issuer.paths() == ["redeem"]
    assert (ledger.get(KEY).signature, ledger.get(KEY).ended) == ("", "withdrawn")


def test_what_another_program_withdraws_at_the_last_moment_is_not_sent(ledger):
    """It told nobody, since nobody had heard of the report."""
    issuer = Issuer(blind_survey(privacy={"send_within_hours": 24}))
    person(issuer, ledger, clock=lambda: NOW).record(ANSWERS)

    def late():
        person(issuer, ledger).withdraw()
        return datetime(2030, 1, 1, tzinfo=UTC)

    with pytest.raises(BudgetExhausted, match="withdrawn"):
        person(issuer, ledger, clock=late).send()
    assert issuer.paths() == ["redeem"]


def test_what_was_tried_is_withdrawn_at_the_aggregator(ledger):
    """It may have arrived, although nobody said so."""
    issuer = Issuer(blind_survey(privacy={"send_within_hours": 1}))
    me = person(issuer, ledger, clock=lambda: NOW)
    me.record(ANSWERS)
    issuer.admit = lambda *_: Reply(503)
    with pytest.raises(TransportError):
        person(issuer, ledger).send()
    me.withdraw()
    assert issuer.paths()[-1] == "withdraw"


def test_what_another_program_has_begun_to_send_is_withdrawn_at_the_aggregator(ledger):
    """Also where it began after this one had looked: whichever notes first is right."""
    issuer = Issuer(blind_survey(privacy={"send_within_hours": 24}))
    me = person(issuer, ledger, clock=lambda: NOW)
    me.record(ANSWERS)
    seen = ledger.get(KEY)
    ledger.mark_due(KEY)
    take_back(ledger, KEY, seen, me._transport)

    assert issuer.paths()[-1] == "withdraw"
    assert ledger.get(KEY).ended == "withdrawn"


def live(folder, issuer):
    """Redeem, answer and send in the first wave, and in the second."""
    for wave in (0, 1):
        with suppress(SurveyError):
            Respondent(issuer.survey, issuer.transport, FileLedger(folder), wave=wave, token=INVITATION).answer(ANSWERS)


@pytest.mark.parametrize("kill", [False, True], ids=["failure", "kill"])
def test_no_failure_of_a_disk_redeems_twice_or_loses_a_report(tmp_path, kill):
    """Whichever step fails or is the last one, going on gives one report a wave, of ids that were signed once."""
    with pytest.MonkeyPatch.context() as patch:
        disk = Disk(patch)
        live(tmp_path / "whole", Issuer(WAVES))
    assert disk.count > 20
    # A kill at every step; a failure that is told at some of them.
    for number in range(0, disk.count, 1 if kill else 4):
        folder, issuer = tmp_path / str(number), Issuer(WAVES)
        with pytest.MonkeyPatch.context() as patch, suppress(Killed):
            Disk(patch, number, kill)
            live(folder, issuer)
        with pytest.MonkeyPatch.context() as patch:
            Disk(patch)
            live(folder, issuer)
        assert len(issuer.admitted) == 2, f"step {number}"
        assert len(issuer.redeemed) == 1
        assert FileLedger(folder).spent(ORIGIN) == 2 * WAVES.epsilon
        assert not [each for each in signatures(issuer) if each in on_disk(folder)], f"step {number} leaves a signature"


def signatures(issuer):
    """Those that came with reports; one that has arrived is sent with nothing."""
    sent = [headers.get("Authorization", "") for _, path, headers, _ in issuer.seen if "report" in path]
    assert all(each.startswith("Blind ") for each in sent if each)
    return [each.removeprefix("Blind ") for each in sent if each]
