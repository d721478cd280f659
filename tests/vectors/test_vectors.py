"""The committed vectors are what the product does today, and what generating them again would write."""

import json
from fractions import Fraction

import pytest
from sottovoce.client.draws import Draws
from sottovoce.client.memo import draw_memo
from sottovoce.client.question_sample import draw_arm, draw_asked
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared import canonical
from sottovoce.shared.by_hand.own_coin import procedure
from sottovoce.shared.errors import AnswerError, SpecError
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.joint_rr import JointRR
from sottovoce.shared.parse_survey import load_survey, parse_survey
from sottovoce.shared.redemption import parse_token, print_token
from sottovoce.shared.report import dump_report, parse_report, report_length

from tests.documents import parsed, survey
from tests.vectors.generate import FOLDER, documents, render
from tests.vectors.tokens import check_letters


def read(path):
    return json.loads((FOLDER / path).read_text(encoding="utf-8"))


def playback(data):
    """(draws that read these bytes, how many are left)."""
    rest = bytearray(data)

    def take(count):
        taken = bytes(rest[:count])
        del rest[:count]
        return taken

    return Draws(take), rest


def test_vectors_are_what_generating_writes():
    """Nobody edits a vector by hand, and no change of behaviour goes without a visible diff."""
    for path, document in documents().items():
        assert (FOLDER / path).read_text(encoding="utf-8") == render(document) + "\n", path


def test_vectors_stay_small_enough_to_read():
    """A file that nobody reads hides its diffs."""
    large = [path.name for path in FOLDER.rglob("*/*.json") if path.stat().st_size > 15_000]

    assert large == []


def test_below_gives_the_vectors_values():
    for vector in read("draws.json"):
        draws, rest = playback(bytes.fromhex(vector["bytes"]))
        assert vector["value"] == draws.below(vector["bound"])
        assert not rest


@pytest.mark.parametrize("name", RANDOMIZERS)
def test_randomizer_gives_the_vectors_reports(name):
    for group in read(f"{name}/randomize.json"):
        asked = parsed(group["question"])
        assert group["epsilon"] == asked.epsilon
        for answer, data, report in group["draws"]:
            draws, rest = playback(bytes.fromhex(data))
            assert report == RANDOMIZERS[name](asked.mechanism, asked.encode(answer), draws)
            assert not rest
            assert asked.admits(report)


@pytest.mark.parametrize("name", RANDOMIZERS)
def test_bad_mechanisms_are_refused(name):
    for vector in read(f"{name}/bad.json"):
        with pytest.raises(SpecError) as caught:
            parse_survey(survey(vector["question"]))
        assert vector["error"] == caught.value.code


def test_answers_have_the_vectors_values():
    for vector in read("answers.json"):
        asked = parsed(vector["question"])
        for answer, value in vector["values"]:
            encoded = asked.encode(answer)
            assert value == (list(encoded) if isinstance(encoded, tuple) else encoded)


def test_bad_answers_are_refused():
    """What is not exactly an answer is never made into one."""
    for vector in read("answers.json"):
        for answer in vector["bad"]:
            with pytest.raises(AnswerError):
                parsed(vector["question"]).encode(answer)


def test_reports_have_the_vectors_bytes():
    for vector in read("surveys.json")["reports"]:
        loaded = load_survey(vector["survey"].encode())
        assert (vector["digest"], vector["epsilon"]) == (loaded.digest, loaded.epsilon)
        before, unread = playback(bytes.fromhex(vector["bytes_before"]))
        assert vector["asked"] == list(draw_asked(loaded, before))
        memo = draw_memo(loaded, before)
        assert vector["memo"] == [answer for pair in memo.values() for answer in pair]
        assert not unread
        draws, rest = playback(bytes.fromhex(vector["bytes"]))
        values = encode(loaded, vector["answers"], vector["asked"])
        report = randomize(loaded, values, draws, vector["wave"], memo)
        assert vector["body"] == dump_report(report, loaded).decode()
        assert parse_report(vector["body"].encode()) == report
        assert not rest


def check_drawn(loaded, drawn, *asked):
    """True values and the report's bytes follow from the answers and the random bytes, and none of these is left."""
    values = encode(loaded, drawn["answers"], *asked)
    draws, rest = playback(bytes.fromhex(drawn["bytes"]))
    assert drawn["values"] == [list(value) if isinstance(value, tuple) else value for value in values]
    assert drawn["body"] == dump_report(randomize(loaded, values, draws), loaded).decode()
    assert not rest


def test_items_have_the_vectors_values_and_reports():
    for vector in read("items.json")["reports"]:
        loaded = load_survey(vector["survey"].encode())
        assert (vector["digest"], vector["epsilon"]) == (loaded.digest, loaded.epsilon)
        assert vector["labels"] == [question.label for question in loaded.questions]
        for drawn in vector["drawn"]:
            check_drawn(loaded, drawn)


def test_blocks_have_the_vectors_reports_and_laws():
    for vector in read("blocks.json")["reports"]:
        loaded = load_survey(vector["survey"].encode())
        assert (vector["digest"], vector["epsilon"]) == (loaded.digest, loaded.epsilon)
        assert (vector["wave_epsilon"], vector["length"]) == (loaded.epsilon_of_wave, report_length(loaded, 0))
        for drawn in vector["drawn"]:
            before, none_left = playback(bytes.fromhex(drawn["bytes_before"]))
            assert list(draw_asked(loaded, before)) == drawn["asked"]
            check_drawn(loaded, drawn, drawn["asked"])
            assert not none_left
    for law in read("blocks.json")["laws"]:
        block = JointRR(Fraction(law["odds"]), law["radius"], tuple(law["sizes"]), law["ask"])
        assert (law["weights"], law["counts"]) == (list(block.weights), list(block.counts))
        assert law["marginal"] == list(map(str, block.marginal(0)))


def test_arms_have_the_vectors_draws_and_reports():
    for vector in read("arms.json")["reports"]:
        loaded = load_survey(vector["survey"].encode())
        assert (vector["digest"], vector["epsilon"]) == (loaded.digest, loaded.epsilon)
        assert {len(drawn["body"]) for drawn in vector["drawn"]} == {vector["length"]}
        for drawn in vector["drawn"]:
            before, none_left = playback(bytes.fromhex(drawn["bytes_before"]))
            arm = draw_arm(loaded, before)
            assert loaded.arms[arm].name == drawn["answers"]["arm"]
            assert list(draw_asked(loaded, before, arm)) == drawn["asked"]
            check_drawn(loaded, drawn, drawn["asked"])
            assert not none_left


def test_bad_answers_to_items_are_refused():
    vectors = read("items.json")
    asked = load_survey(vectors["reports"][0]["survey"].encode())
    for answers in vectors["bad_answers"]:
        with pytest.raises(AnswerError):
            encode(asked, answers)


def test_procedures_are_the_vectors():
    for vector in read("own_coin.json"):
        made = procedure(BinaryRR(Fraction(vector["a"]), Fraction(vector["b"])))
        told = made and {"flips": made.flips, "parts": [[part.action, [*part.outcomes]] for part in made.parts]}
        assert vector["procedure"] == told


def test_tokens_are_read_as_the_vectors_say():
    for vector in read("tokens.json"):
        if vector["token"] is None:
            with pytest.raises(ValueError, match="mistyped"):
                parse_token(vector["text"], vector["survey"])
        else:
            token = parse_token(vector["text"], vector["survey"])
            assert token == vector["token"]
            assert print_token(token, vector["survey"]) == token + check_letters(vector["survey"], token)


def bad_surveys():
    yield from read("surveys.json")["bad_surveys"]
    for name, number in (("items", 0), ("arms", 1), ("blocks", 1)):
        vectors = read(f"{name}.json")
        good = vectors["reports"][number]["survey"]
        yield from vectors.get("bad_surveys", [])
        for old, new in vectors["bad_changes"]:
            assert old in good
            yield good.replace(old, new, 1)


def test_bad_surveys_are_not_refused_for_their_order_alone():
    """A client that asks for the canonical form first would never come to the rule that is broken."""
    for text in bad_surveys():
        try:
            ordered = canonical.dump(json.loads(text))
        except ValueError:
            continue
        assert ordered == text.encode() or load_survey(ordered)


def test_bad_surveys_are_refused():
    for text in bad_surveys():
        with pytest.raises(SpecError):
            load_survey(text.encode())
