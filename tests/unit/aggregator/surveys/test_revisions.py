"""What may follow a published revision, and what every device would refuse: both are told before anybody is invited."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sottovoce.aggregator.invitations.key_file import with_moduli
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.surveys.lifecycle import (
    MOST_REVISIONS,
    correction_words,
    fate_of_counts,
    next_revision,
    signed_before,
    survey_of,
)
from sottovoce.aggregator.surveys.privacy_limit import check_affordable, remedies
from sottovoce.cli.serve import serve
from sottovoce.cli.survey.publish import publish
from sottovoce.cli.survey_file import lint
from sottovoce.client.revisions import MOST
from sottovoce.shared.accounting import DEFAULT_ALLOWANCE
from sottovoce.shared.canonical import dump
from sottovoce.shared.errors import SpecError, StorageError
from sottovoce.shared.parse_survey import load_survey, parse_survey
from sottovoce.shared.redemption import spell_modulus
from sottovoce.shared.spec import Survey

from tests.blocks import block, in_block
from tests.documents import question
from tests.invited import blind_survey, key
from tests.surveys import document, months, survey
from tests.vectors.arms import arms, asks

LAYER = {"name": "coin_flip"}
MEMO = {"name": "memoized_rr", "permanent": LAYER, "instantaneous": LAYER, "waves": 3}


def corrected(storage: SQLiteStorage, **changes: Any) -> list[tuple[str, str]]:
    with pytest.raises(SpecError) as refused:
        next_revision(storage, survey(**{"revision": 2, **changes}))
    return [tuple(problem) for problem in refused.value.problems]


def remembered(**changes: Any) -> dict[str, Any]:
    asked = [question({**MEMO, **changes}), document()["questions"][2]]
    return {"questions": asked, "waves": months(3)}


def test_first_revision_is_published_as_it_is(storage: SQLiteStorage) -> None:
    assert next_revision(storage, survey()) == survey()


def test_blind_survey_is_published_once_and_keeps_its_keys(storage: SQLiteStorage, tmp_path: Path) -> None:
    """The same file again is the same revision; a correction lists the same moduli, and no others may follow."""
    settings = Settings(blind_keys_file=str(tmp_path / "keys"))
    (tmp_path / "keys").touch(mode=0o600)
    (tmp_path / "keys").write_text(_keys(2))
    written = survey(access="blind")
    first = storage.publish(next_revision(storage, with_moduli(storage, written, settings)))
    again = storage.publish(next_revision(storage, with_moduli(storage, written, settings)))
    second = next_revision(storage, with_moduli(storage, survey(access="blind", revision=2), settings))
    listed = next_revision(storage, with_moduli(storage, blind_survey(revision=2), settings))

    assert first == again
    assert second.moduli == survey_of(first.document).moduli == (key(0).modulus,)
    assert second == listed
    assert with_moduli(storage, survey(), Settings()) == survey()
    storage.publish(second)
    with pytest.raises(StorageError, match="names no moduli yet"):
        storage.publish(survey(name="other", access="blind"))
    other = {"blind": [spell_modulus(key(1).modulus)]}
    assert [place for place, _ in corrected(storage, access=other, revision=3)] == ["/access"]
    assert [place for place, _ in corrected(storage, access="token", revision=3)] == ["/access"]
    with pytest.raises(StorageError, match="does not hold this survey's keys"):
        with_moduli(storage, survey(access=other), settings)
    with pytest.raises(SpecError, match="this server has no file for the keys of blind links"):
        with_moduli(storage, written, Settings())


def _keys(count: int) -> str:
    primes = [[f"{key(number).p:x}", f"{key(number).q:x}"] for number in range(count)]
    return json.dumps({"format": "sottovoce-blind-keys/1", "surveys": {"exam": primes}})


def test_correction_names_the_newest_revision(storage: SQLiteStorage) -> None:
    first = storage.publish(next_revision(storage, survey()))
    second = next_revision(storage, survey(revision=2, title={"en": "Examinations"}))
    storage.publish(second)
    fifth = next_revision(storage, survey(revision=5))

    assert second.replaces == first.digest
    assert second.is_same_as(survey(revision=2, title={"en": "Examinations"}))
    assert fifth.replaces == second.digest


def test_publishing_again_is_the_same_revision(storage: SQLiteStorage) -> None:
    first = storage.publish(next_revision(storage, survey()))
    second = storage.publish(next_revision(storage, survey(revision=2)))
    storage.publish(next_revision(storage, survey(revision=3)))

    for again in (survey(revision=2), survey(revision=2, replaces=first.digest), survey(revision=2, replaces="0" * 64)):
        assert next_revision(storage, again).digest == second.digest
    assert storage.publish(next_revision(storage, survey())) == storage.revisions("exam")[0]
    assert len(storage.revisions("exam")) == 3


def test_what_links_and_results_rely_on_cannot_change(storage: SQLiteStorage) -> None:
    storage.publish(next_revision(storage, survey()))
    wrong: list[tuple[dict[str, Any], str, str]] = [
        ({"revision": 1, "title": {"en": "X"}}, "/revision", "higher than 1"),
        ({"replaces": "0" * 64}, "/replaces", "leave it out"),
        ({"access": "token"}, "/access", "links that were handed out"),
        ({"privacy": {"release_batch": 24}}, "/privacy/release_batch", "less than 25"),
    ]
    for changes, pointer, reason in wrong:
        [(where, why)] = corrected(storage, **changes)
        assert (where, reason in why) == (pointer, True)
    assert next_revision(storage, survey(revision=2, privacy={"release_batch": 26}))


def until(wave: int, month: int) -> list[dict[str, str]]:
    """Two waves, of which one lasts until another month."""
    waves = months(2)
    waves[wave]["closes"] = f"2026-{month:02}-01T00:00:00Z"
    return waves


@pytest.mark.parametrize(
    ("changes", "over"),
    [
        ({"waves": until(1, 5)}, ["/waves/1"]),
        ({"waves": months(5)[3:]}, ["/waves/0", "/waves/1"]),
        ({}, ["/closes"]),
        ({"waves": months(3)}, []),
        ({"waves": months(1)}, []),
    ],
)
def test_wave_that_is_over_is_not_opened_again(
    storage: SQLiteStorage, changes: dict[str, Any], over: list[str]
) -> None:
    """Its tables, read before and after, would differ by the few people who came to the correction."""
    storage.publish(next_revision(storage, survey(waves=months(2))))
    told = []
    try:
        next_revision(storage, survey(revision=2, **changes), lambda: datetime(2026, 3, 1, tzinfo=UTC))
    except SpecError as refused:
        told = [problem.pointer for problem in refused.problems]

    assert told == over


def test_wave_is_prolonged_before_its_end_and_after_a_close(storage: SQLiteStorage) -> None:
    """What a close has shown is compared at the next one."""
    storage.publish(next_revision(storage, survey(waves=months(2))))
    longer, ends = survey(revision=2, waves=until(1, 5)), datetime(2026, 3, 1, tzinfo=UTC)

    assert next_revision(storage, longer, lambda: ends - timedelta(seconds=1)).revision == 2
    storage.close_survey("exam", 20_600)
    assert next_revision(storage, longer, lambda: ends).revision == 2


def test_all_reasons_are_told_at_once(storage: SQLiteStorage) -> None:
    """An author mends a file in one go."""
    storage.publish(next_revision(storage, survey()))

    assert [where for where, _ in corrected(storage, access="token", privacy={"release_batch": 1})] == [
        "/access", "/privacy/release_batch",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "changes",
    [
        {"permanent": {"name": "binary_rr", "a": "2/3", "b": "1/3"}},
        {"instantaneous": {"name": "binary_rr", "a": "2/3", "b": "1/3"}},
        {"waves": 4},
    ],
)
def test_what_devices_remember_cannot_change(storage: SQLiteStorage, changes: dict[str, Any]) -> None:
    """Not one number of it, by name and not by place: no device draws a second time."""
    storage.publish(next_revision(storage, survey(**remembered())))
    [(where, why)] = corrected(storage, **remembered(**changes))
    assert (where, "memoized_rr" in why) == ("/questions", True)

    asked, beside = remembered()["questions"]
    for others in ([beside], [{**asked, "name": "r"}, beside], [asked, {**asked, "name": "r"}, beside]):
        assert [where for where, _ in corrected(storage, questions=others, waves=months(3))] == ["/questions"]
    moved = next_revision(
        storage, survey(revision=2, waves=months(3), questions=[beside, {**asked, "label": {"en": "Mended"}}])
    )
    assert moved.replaces == storage.revisions("exam")[0].digest


@pytest.mark.parametrize(("place", "arm"), [(1, "protected"), (2, "direct")], ids=["question", "note"])
def test_what_an_arm_asks_or_shows_cannot_move_to_another(storage: SQLiteStorage, place: int, arm: str) -> None:
    """Of people who are in it already; a note can be what the experiment is about."""
    asked = [asks("all", public=True), asks("a", "direct", public=True), asks("story", "protected", "note"),
             asks("b", "protected", mechanism=LAYER)]  # fmt: skip
    more: dict[str, Any] = {"arms": arms(1, 1), "questions": asked}
    storage.publish(next_revision(storage, survey(**more)))
    moved = [{**item, "arm": arm} if number == place else item for number, item in enumerate(asked)]
    if place == 1:
        moved.append(asks("c", "direct", public=True))

    assert [pointer for pointer, _ in corrected(storage, **{**more, "questions": moved})] == ["/arms"]
    assert next_revision(storage, survey(**more, revision=2)).revision == 2


def test_plan_of_the_analysis_cannot_change(storage: SQLiteStorage) -> None:
    """It was made before the reports came: neither another one, nor one made later, nor none."""
    asked = [asks("a", mechanism=LAYER), asks("b", "direct", public=True), asks("c", "protected", public=True)]
    more: dict[str, Any] = {"arms": arms(1, 1), "questions": asked}
    plan = [{"question": "a", "by": "arm"}]
    other = [{"question": "b", "against": "c"}]
    storage.publish(next_revision(storage, survey(**more, analysis_plan=plan)))

    for changed in ({"analysis_plan": other}, {"analysis_plan": [*plan, *other]}, {}):
        assert [pointer for pointer, _ in corrected(storage, **more, **changed)] == ["/analysis_plan"]
    assert next_revision(storage, survey(**more, analysis_plan=plan, revision=2)).revision == 2


def test_nothing_follows_a_blind_survey_whose_ids_are_forgotten(storage: SQLiteStorage) -> None:
    """Signatures would be good for a second report; of other surveys devices and tokens see to it."""
    for asked in (blind_survey(), survey(name="other")):
        key_of = storage.publish(asked).key
        storage.close_survey(asked.name, 1)
        storage.purge(key_of)

    with pytest.raises(SpecError, match="could report again"):
        next_revision(storage, blind_survey(revision=2))
    assert next_revision(storage, blind_survey()).digest == blind_survey().digest
    assert next_revision(storage, survey(name="other", revision=2)).revision == 2


def test_ninth_revision_is_refused(storage: SQLiteStorage) -> None:
    """As many as a device reads; there is no version for each person."""
    for number in range(1, MOST_REVISIONS + 1):
        storage.publish(next_revision(storage, survey(revision=number)))

    assert MOST_REVISIONS == MOST == 8
    assert corrected(storage, revision=9) == [("/revision", "there are 8 revisions, which is as many as there may be")]
    assert next_revision(storage, survey(revision=8)).digest == storage.revisions("exam")[-1].digest


def test_correction_with_more_waves_tells_what_redeemed_invitations_are_good_for(storage: SQLiteStorage) -> None:
    """Only where ids were signed, wave by wave; else links are good for any."""
    storage.publish(blind_survey(1, retention={"ids_days": 5}))
    earlier, more = storage.revisions("exam"), blind_survey(2, revision=2)
    storage.publish(survey(name="open", access="token"))

    assert "signatures for 1 of the 2 waves, and need another invitation" in correction_words(earlier, more)
    assert "Invitations stay good, redeemed or not" in correction_words(earlier, blind_survey(1, revision=2))
    assert signed_before(earlier, blind_survey(1, revision=2)) == 0
    assert signed_before([], more) == 0
    told = correction_words(storage.revisions("open"), survey(name="open", access="token", revision=2))
    assert "Personal links that were not used yet stay good" in told
    assert "Invitations" not in told


def test_correction_tells_whose_counts_go_on_as_results_do(storage: SQLiteStorage) -> None:
    """Results pool other odds; another order of options, or another answer for none, is another question for them."""
    cheated, reason, year = document()["questions"]
    turned = {**reason, "choices": reason["choices"][::-1]}
    storage.publish(survey(questions=[{**cheated, "when_absent": "no"}, reason, year]))
    earlier = storage.revisions("exam")
    dearer = survey(
        revision=2, questions=[{**cheated, "when_absent": "no", "mechanism": {"epsilon": "2"}}, turned, COIN2]
    )
    other = survey(revision=2, questions=[{**cheated, "when_absent": "yes"}, reason, year])

    assert [(each.name, fate) for each, fate in fate_of_counts(earlier, dearer)] == [
        ("cheated", "same"),
        (reason["name"], "anew"),
        ("coin", "anew"),
        (year["name"], "gone"),
    ]
    told = correction_words(earlier, dearer)
    assert f"Counts start anew: {reason['name']}." in told
    assert f"Results no longer show: {year['name']}." in told
    assert [fate for _, fate in fate_of_counts(earlier, other)] == ["anew", "same", "same"]
    storage.publish(next_revision(storage, other))
    back = survey(revision=3, questions=[{**cheated, "when_absent": "no"}, reason, year])
    assert [fate for _, fate in fate_of_counts(storage.revisions("exam"), back)] == ["same", "same", "same"]


COIN = document()["questions"][0]
COIN2 = {**COIN, "name": "coin"}


def coins(count: int, **more: Any) -> Survey:
    """So many coin flips, 1.10 each."""
    return survey(questions=[{**COIN, "name": f"coin{number}"} for number in range(count)], **more)


DEAR = coins(9)
"""9.89 in total, where devices allow 8."""


def refusal(asked: Survey) -> str:
    with pytest.raises(SpecError) as caught:
        check_affordable(asked)
    return str(caught.value)


def test_total_above_the_allowance_is_refused_with_what_would_do() -> None:
    """The dearest questions by name, and remedies that are ones."""
    told = refusal(DEAR)

    assert told.startswith("/questions: a whole report costs epsilon 9.89, and devices allow 8; ")
    assert "coin0 (1.10), coin1 (1.10), coin2 (1.10)" in told
    assert "ask: 7, so that each person is asked 7 of the 9 private ones (7.70)" in told
    assert 'more noise: mechanism {epsilon: "0.88"} for each' in told
    # Eight of nine still cost too much.
    assert "ask: 7," in refusal(coins(9, ask=8))


def test_what_is_proposed_and_what_costs_less_than_the_allowance_passes() -> None:
    """The set that is asked, the noise that is named, and seven coins, 7.70; these are the limits on devices, too."""
    check_affordable(coins(9, ask=7))
    weaker = [{**COIN, "name": f"coin{number}", "mechanism": {"epsilon": "0.88"}} for number in range(9)]
    check_affordable(survey(questions=weaker))
    check_affordable(coins(7))
    assert (DEFAULT_ALLOWANCE.question, DEFAULT_ALLOWANCE.total) == (3, 8)


def test_dear_question_is_refused_by_its_place() -> None:
    dear = {**COIN, "name": "dear", "mechanism": {"name": "warner", "truth": "24/25"}}
    told = refusal(survey(questions=[COIN, dear]))

    assert told.startswith("/questions/1: dear costs epsilon 3.18, and devices allow 3 for one question; ")
    assert '{epsilon: "3"}' in told


@pytest.mark.parametrize("hanging", [True, False])
def test_ask_is_proposed_only_where_nothing_hangs_on_a_question(hanging: bool) -> None:
    """A set drawn by the device may leave out a question on which another one depends."""
    questions = [{**COIN, "name": f"coin{number}", "when_absent": "no"} for number in range(9)]
    if hanging:
        questions[8]["visible_if"] = {"coin0": "yes"}

    assert remedies(survey(questions=questions), 8.0)[0].startswith("ask: ") is not hanging


def test_ask_is_not_proposed_beside_a_block_that_draws() -> None:
    """A survey has one of the two."""
    drawn = block(*map(in_block, "abc")) | {"ask": 2}

    assert remedies(survey(questions=[drawn, COIN]), 2.5)[0].startswith("more noise: ")


def test_stored_survey_is_read_as_ever() -> None:
    """What was published before stays readable, whatever it costs."""
    assert load_survey(DEAR.canonical).digest == parse_survey(DEAR.document).digest == DEAR.digest


@pytest.mark.parametrize("verb", [lint, publish, serve], ids=["lint", "publish", "serve"])
def test_every_verb_that_leads_to_respondents_refuses(verb: Any, tmp_path: Path) -> None:
    path = tmp_path / "survey.json"
    path.write_bytes(dump(DEAR.document))
    data = [] if verb is lint else ["--data", str(tmp_path / "data")]
    result = CliRunner().invoke(verb, [str(path), *data])

    assert isinstance(result.exception, SpecError)
    assert "devices allow 8" in str(result.exception)
    assert not (tmp_path / "data").exists()
