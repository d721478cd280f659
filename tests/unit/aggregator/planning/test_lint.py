import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sottovoce.aggregator.i18n.translator import LANGUAGES, Words
from sottovoce.aggregator.planning.lint import SINCE, describe, oldest_release, suggestions, warnings
from sottovoce.aggregator.planning.traffic_analysis import BEFORE_THE_END, blind_limits, spread
from sottovoce.aggregator.privacy_account.document import limits, stored
from sottovoce.client import waiting
from sottovoce.shared.mechanisms import MECHANISMS
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.survey_keys import ITEM, SURVEY
from sottovoce.shared.types import TYPES

from tests.blocks import block, blocks, in_block
from tests.documents import names
from tests.surveys import document, months, survey
from tests.unit.aggregator.analysis.mixtures.test_fielded import CHEATERS

KIND = {"report_labels": "neutral", "researcher": {"name": {"en": "Dr A. Example"}}}
"""What lint suggests for every survey."""


@pytest.mark.parametrize(("batch", "ask", "warned"), [(25, 1, True), (60, 1, False), (25, 3, False)])
def test_few_answers_behind_a_snapshot_are_warned_of(batch: int, ask: int, warned: bool) -> None:
    """Six coins of which one is asked: 25 reports bring about four answers to each, 60 bring ten."""
    coins = [{**document()["questions"][0], "name": f"coin{number}"} for number in range(6)]
    asked = survey(questions=coins, ask=ask, privacy={"release_batch": batch})

    assert any("fewer than 10 on average" in text for text in warnings(asked, [])) is warned


@pytest.mark.parametrize(("batch", "told"), [(25, "about 24 reports are not shown yet, up to 24 of each"), (1, "")])
def test_what_cohorts_keep_from_view_is_told(batch: int, told: str) -> None:
    """On average half a step of each; nothing where every report moves the results, or nobody is divided."""
    asked = survey(privacy={"release_batch": batch})
    undivided = survey(privacy={"release_batch": batch}, questions=document()["questions"][:2])

    assert told in "".join(describe(asked))
    assert ("not shown yet" in "".join(describe(asked))) == bool(told)
    assert "not shown yet" not in "".join(describe(undivided))


@pytest.mark.parametrize(("labels", "warned"), [("plain", True), ("neutral", False)])
def test_neutral_labels_are_recommended_for_private_yes_and_no(labels: str, warned: bool) -> None:
    """A bare yes on a receipt is read as an admission; a public yes is one."""
    _, reason, year = document()["questions"]
    told = suggestions(survey(report_labels=labels))
    public = survey(questions=[reason, year, {"type": "boolean", "name": "open", "label": {"en": "?"}, "public": True}])

    assert any(text.startswith("/report_labels: neutral is recommended") for text in told) is warned
    assert not any("neutral" in text for text in suggestions(public))


def test_who_asks_is_wanted() -> None:
    """A suggestion to whoever names nobody."""
    named = survey(researcher={"name": {"en": "Dr A. Example"}})

    assert any(text.startswith("/researcher: ") for text in suggestions(survey()))
    assert not any(text.startswith("/researcher: ") for text in suggestions(named))


@pytest.mark.parametrize(("count", "warned"), [(3, False), (4, True), (6, True)])
def test_total_that_makes_a_tenth_nine_tenths_is_warned_of(count: int, warned: bool) -> None:
    """Four coin flips; what would lower it begins with asking fewer of each person."""
    coins = [{**document()["questions"][0], "name": f"coin{number}"} for number in range(count)]
    told = [text for text in warnings(survey(questions=coins), []) if text.startswith("a whole report spends")]

    assert bool(told) is warned
    if count == 4:
        assert "epsilon 4.40: who thought it 10% likely" in told[0]
        assert "may think it at most 90% likely after it; what would lower it: ask: 3, so that" in told[0]


def test_prefer_not_to_say_is_suggested_for_private_questions() -> None:
    """By the key that the type takes; not where it is offered, where the answer is public, or with own coins."""
    coin, reason, year = document()["questions"]
    number = {"type": "integer", "name": "n", "label": {"en": "?"}, "min": 0, "max": 4, "mechanism": {"epsilon": "1"}}
    asked = survey(questions=[coin, {**reason, "absent_category": True}, year, number], **KIND)
    hand = survey(questions=[coin], privacy={"procedure": "own_coin"}, **KIND)

    assert suggestions(asked) == [
        "/questions/0: people cannot decline; absent_category: true offers “Prefer not to say”",
        "/questions/3: people cannot decline; when_absent offers “Prefer not to say”",
    ]
    assert suggestions(hand) == []


def test_public_answers_that_single_people_out_are_warned_of() -> None:
    hours = {"type": "integer", "name": "hours", "label": {"en": "?"}, "min": "0", "max": "99", "step": "1"}
    asked = [*document()["questions"], {**hours, "public": True}]
    found = [text for text in warnings(survey(questions=asked), ["en"]) if "combinations" in text]
    assert [text.partition(" have 200 ")[0] for text in found] == ["/questions/3: the public answers"]
    assert not any("combinations" in text for text in warnings(survey(), ["en"]))
    # Of eight arms, each a combination, no question of the survey is the widest.
    arms = [{"name": f"a{number}", "weight": 1} for number in range(8)]
    asked = [{"type": "boolean", "name": f"b{number}", "label": {"en": "?"}, "public": True} for number in range(4)]
    [found] = [text for text in warnings(survey(questions=asked, arms=arms), ["en"]) if "combinations" in text]
    assert found.startswith("/questions/0: the public answers have 128 ")


@pytest.mark.parametrize(
    ("name", "changes", "warned"),
    [
        ("harassment-2026", {"quick_exit": True}, True),
        ("survey-k7f3", {"quick_exit": True}, False),
        ("survey", {"quick_exit": True}, False),
        ("harassment-2026", {}, False),
    ],
)
def test_telling_name_is_warned_of_where_people_leave_in_haste(
    name: str, changes: dict[str, bool], warned: bool
) -> None:
    """The address stays in the list of visited pages."""
    told = warnings(survey(name=name, **changes), ["en"])
    assert any(each.startswith("/name: is in the address") for each in told) is warned


def test_groups_of_a_design_are_asked_one_question() -> None:
    first, *rest = json.loads(json.dumps(CHEATERS.document["questions"]))
    for label, warned in ((first["label"], False), ({"en": "Have you ever stolen?"}, True)):
        asked = parse_survey({**CHEATERS.document, "questions": [{**first, "label": label}, *rest]})
        assert any(each.startswith("/analysis_plan/0: grave: ") for each in warnings(asked, ["en"])) is warned


def test_exit_to_an_address_needs_a_newer_release() -> None:
    """Older ones read true only."""
    assert oldest_release(survey(quick_exit=True)) == ("0.4.0", ["quick_exit"])
    assert oldest_release(survey(quick_exit="https://weather.example")) == ("0.5.0", ["quick_exit address"])


@pytest.mark.parametrize(
    ("label", "changes", "told"),
    [
        ({"en": "Did a partner hit you this year?"}, {}, True),
        ({"en": "Q?", "de": "Wurden Sie belästigt?"}, {}, True),
        ({"en": "Q?", "ar": "هل تعرضت للتحرش؟"}, {}, True),
        ({"en": "Were you harassed?"}, {"quick_exit": True}, False),
        ({"en": "Did you cheat in an exam?"}, {}, False),
    ],
)
def test_quick_exit_is_suggested_where_people_may_be_watched(
    label: dict[str, str], changes: dict[str, bool], told: bool
) -> None:
    """By the words of title and questions, in any language of the form."""
    asked = survey(questions=[document()["questions"][0] | {"label": label}], **changes)
    assert any(each.startswith("/quick_exit") for each in suggestions(asked)) is told


@pytest.mark.parametrize(
    ("depends_on", "privacy", "warned"),
    [
        ("cheated", {}, True),
        ("cheated", {"send_within_hours": 24}, False),
        ("cheated", {"send_at_seconds": 180}, False),
        ("year", {}, False),
    ],
)
def test_questions_that_appear_after_a_private_answer_are_warned_of(
    depends_on: str, privacy: dict[str, int], warned: bool
) -> None:
    """The time a person takes hints at the answer, unless devices wait or the answer is public."""
    cheated, reason, year = document()["questions"]
    answer = {"cheated": "yes", "year": "second"}[depends_on]
    further = {**reason, "visible_if": {depends_on: answer}, "when_absent": "fun"}
    asked = survey(questions=[cheated, year, further], privacy=privacy)

    told = [each for each in warnings(asked, ["en"]) if "send_within_hours: 24" in each]
    assert [each.partition(":")[0] for each in told] == (["/questions/2/visible_if"] if warned else [])


OTHERS = "those of uncorrected shares"


@pytest.mark.parametrize(
    ("coin", "public", "told"),
    [
        (
            "20/21",
            False,
            "2.1 times those of uncorrected shares; with public anchors, which cost no epsilon, 1.1 times",
        ),
        ("3/4", False, "1.4 times those of uncorrected shares; with public anchors, which cost no epsilon, 1.1 times"),
        ("3/4", True, "1.1 times those of uncorrected shares"),
    ],
)
def test_cost_of_an_anchor_is_told(coin: str, public: bool, told: str) -> None:
    """For 10 % careless people, and a tenth of the others with yes."""
    asked, *_ = document()["questions"]
    anchor = {**asked, "name": "moon", "anchor": True, "known_share": "0"}
    anchor |= {"mechanism": {"name": "warner", "truth": "3/4"}}
    if public:
        anchor = {key: value for key, value in anchor.items() if key != "mechanism"} | {"public": True}
    cheated = {**asked, "mechanism": {"name": "warner", "truth": coin}}
    [line] = [line for line in describe(survey(questions=[cheated, anchor])) if "careless" in line]
    assert line.endswith(told)


def test_unrelated_question_is_promised_no_correction() -> None:
    """Whose answers a die selects: it is named as not corrected, and alone no correction is told at all."""
    asked, *_ = document()["questions"]
    anchor = {"type": "boolean", "name": "moon", "label": {"en": "M"}, "public": True, "anchor": True,
              "known_share": "0"}  # fmt: skip
    innocuous = {"label": {"en": "B"}, "share": "1/4", "source": {"en": "S"}, "truth": "2/3"}
    drawn = {"type": "boolean", "name": "stole", "label": {"en": "C"}, "procedure": "unrelated_question",
             "innocuous": innocuous}  # fmt: skip
    crosswise = {**drawn, "procedure": "crosswise", "innocuous": {k: v for k, v in innocuous.items() if k != "truth"}}
    told = [
        [line for line in describe(survey(questions=questions)) if "corrected for careless" in line]
        for questions in ([drawn, anchor], [asked, drawn, anchor], [crosswise, anchor])
    ]
    assert told[0] == []
    assert told[1][0].endswith("not corrected: stole")
    assert "not corrected" not in told[2][0]


def test_order_is_suggested_beside_anchors() -> None:
    """Careless people are thought to choose evenly, which a fixed first option makes less likely."""
    anchor = {"type": "boolean", "name": "moon", "label": {"en": "M"}, "public": True, "anchor": True,
              "known_share": "0"}  # fmt: skip
    reason = {"type": "select_one", "name": "reason", "label": {"en": "R"}, "mechanism": {"epsilon": "1"},
              "choices": [{"name": name, "label": {"en": name}} for name in "abc"]}  # fmt: skip
    hints = [
        [each for each in suggestions(survey(questions=[anchor, asked])) if "order: random" in each]
        for asked in (reason, {**reason, "order": "random"})
    ]
    assert [len(each) for each in hints] == [1, 0]


def test_places_behind_a_block_are_those_of_the_file() -> None:
    """A block is one entry of the file's questions, and its items stand within it."""
    coin, reason, year = document()["questions"]
    items = [{key: value for key, value in {**coin, "name": name}.items() if key != "mechanism"} for name in ("a", "b")]
    block = {"block": "both", "mechanism": {"name": "joint_rr", "odds": "9", "radius": 0}, "items": items}
    ages = {"type": "integer", "name": "age", "label": {"en": "Age?"}, "public": True, "min": 0, "max": 99}
    asked = survey(questions=[block, reason, ages, year], **KIND)

    declining = [each.partition(":")[0] for each in suggestions(asked) if "cannot decline" in each]
    assert declining == ["/questions/0/items/0", "/questions/0/items/1", "/questions/1"]
    assert [each.partition(":")[0] for each in warnings(asked, []) if "alone in one" in each] == ["/questions/2"]


def test_own_fact_is_described_and_needs_no_way_out() -> None:
    """With the condition under which it protects."""
    asked = {"type": "boolean", "name": "cheated", "label": {"en": "C"}, "procedure": "crosswise",
             "innocuous": {"label": {"en": "B"}, "share": "1/4", "source": {"en": "S"}}}  # fmt: skip
    made = survey(questions=[asked], access="token")
    assert not any("cannot decline" in each or "report_labels" in each for each in suggestions(made))
    assert any(each.startswith("/access: grave: 'cheated' is hidden by a fact") for each in warnings(made, {"en"}))

    innocuous = {"label": {"en": "B"}, "share": "1/4", "source": {"en": "S"}, "se": "1/40", "truth": "2/3"}
    asked = {"type": "boolean", "name": "cheated", "label": {"en": "C"}, "procedure": "unrelated_question",
             "innocuous": innocuous}  # fmt: skip
    line = describe(survey(questions=[asked]))[1]
    for words in ("die with probability 2/3", "share 1/4, standard error 1/40", "epsilon 2.40", "as long as no one"):
        assert words in line


def test_odds_of_a_block_are_rounded_up() -> None:
    """What is said to be at most 20.1 is 20.08, and not 20.0."""
    questions = [in_block(name) for name in "abc"]
    [line] = [each for each in describe(blocks(block(*questions, odds="241/12"))) if "block intimate" in each]
    assert "at most 20.1:1 for people who know the others" in line


CHANGELOG = (Path(__file__).parents[4] / "CHANGELOG.md").read_text(encoding="utf-8")

COIN, REASON, YEAR = document()["questions"]

DAY = {"type": "date", "name": "day", "label": {"en": "?"}, "min": "2026-01-01", "max": "2026-01-31", "public": True}

ROWS = {"type": "matrix", "name": "m", "label": {"en": "?"}, "rows": names(2, "r")}

UNARY = {"type": "rating", "choices": names(3), "mechanism": {"name": "optimal_unary", "odds": "3"}}

FIRST = {
    *("binary_rr", "kary_rr", "memoized_rr", "subset_selection", "hadamard_response", "sampled_option", "bitwise_rr"),
    *("rounding_rr", "level_table", "square_wave", "geometric", "sampled_coordinate"),
    *("boolean", "select_one", "rating", "select_multiple", "integer", "decimal", "vector"),
}
"""The mechanisms and question types that the first release read."""

ANY = {"type": "note", "name": "n", "label": {"en": "?"}, "any_of": {"year": ["first"]}}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, None),
        ({"questions": [COIN, {**YEAR, "name": "date"}]}, None),
        ({"questions": [COIN, DAY]}, ("0.2.0", ["date"])),
        ({"questions": [COIN, {**ROWS, "of": UNARY}]}, ("0.2.0", ["optimal_unary"])),
        ({"questions": [COIN, YEAR, ANY]}, ("0.3.0", ["any_of"])),
        ({"questions": [COIN, DAY], "after": {"text": {"en": "Thanks"}}}, ("0.3.0", ["after"])),
        ({"retention": {"delete_on": "2030-01-01"}, "notice": {"en": "N"}}, ("0.3.0", ["notice", "delete_on"])),
        ({"trial": True, "revision": 2, "replaces": "0" * 64}, ("0.3.0", ["replaces", "trial"])),
    ],
    ids=str,
)
def test_oldest_release_is_that_of_the_youngest_word(changes, expected):
    """A key, a type or a mechanism; a question may have any name. Lint says so, and says nothing where all can."""
    asked = survey(**changes)

    assert oldest_release(asked) == expected
    assert any("or later" in line for line in describe(asked)) is (expected is not None)


def test_every_mechanism_type_and_key_has_its_release():
    """One that the changelog knows."""
    assert {*MECHANISMS, *TYPES} - FIRST - {word for words in SINCE.values() for word in words} == set()

    assert {row.since for rows in (SURVEY, ITEM) for row in rows.values()} - {"", *SINCE} == set()


@pytest.mark.parametrize("release", SINCE)
def test_changelog_tells_each_word_under_its_release(release):
    """A release of another number than expected, and its words would be told of one that never was."""
    sections = dict(re.findall(r"^## ([\w.]+)[^\n]*\n(.*?)(?=^## |\Z)", CHANGELOG, re.DOTALL | re.MULTILINE))
    told = sections.get(release) or sections["Unreleased"]

    assert [word for word in SINCE[release] if word not in told] == []


def asked(hours: int = 0, **changes: Any) -> Any:
    privacy = {"privacy": {"send_within_hours": hours}} if hours else {}
    return survey(access="blind", **privacy, **changes)


@pytest.mark.parametrize(
    ("found", "grave"),
    [
        (asked(), True),
        (asked(1), False),
        (asked(waves=months(2)), False),
        (asked(waves=months(2), fresh_samples=True), True),
        (asked(1, waves=months(2), fresh_samples=True), False),
        (survey(access="token"), False),
    ],
    ids=str,
)
def test_one_visit_that_pairs_is_grave(found: Any, grave: bool) -> None:
    """Unless devices wait, or the same people are asked again."""
    assert any("grave" in each for each in warnings(found, ["en"])) == grave


def test_short_wait_is_told_for_few_people() -> None:
    assert [any("24 hours or more" in each for each in suggestions(asked(hours))) for hours in (1, 23, 24, 168)] == [
        True, True, False, False
    ]  # fmt: skip


def opened(minutes: int, hours: int = 24, **changes: Any) -> Any:
    closes = datetime(2026, 11, 2, tzinfo=UTC) + timedelta(minutes=minutes)
    return asked(hours, opens="2026-11-02T00:00:00Z", closes=f"{closes:%Y-%m-%dT%H:%M:%SZ}", **changes)


def test_devices_send_in_the_last_minutes_without_a_wait_as_this_reckons() -> None:
    """And so they wait as long as it says, and not a second longer."""
    assert waiting.BEFORE_THE_END == BEFORE_THE_END
    for found in (asked(), asked(3), opened(4), opened(60), opened(60, 1), opened(600, 2)):
        wave = found.waves[0]
        begins = wave.opens or datetime(2026, 11, 2, tzinfo=UTC)
        assert spread(found.send_within_hours, found.waves) == waiting.longest_wait(found, 0, begins)


def test_wave_too_short_for_devices_to_wait_is_told() -> None:
    """Of a few minutes gravely, as if nothing waited; below a day where few are invited; else not at all."""
    for minutes, grave in ((4, True), (10, True), (11, False), (600, False)):
        found = opened(minutes)
        assert any(each.startswith("/closes: grave") for each in warnings(found, ["en"])) == grave
        assert any(each.startswith("/closes: devices send") for each in suggestions(found)) != grave
        assert ("blind_now" in blind_limits(found)) == grave
    long = opened(24 * 60 + 5)
    assert not any("/closes" in each for each in [*warnings(long, ["en"]), *suggestions(long)])
    assert not any("/closes" in each for each in suggestions(opened(600, 2)))
    panel = asked(24, waves=[{"opens": "2025-12-01T00:00:00Z", "closes": "2025-12-01T00:09:00Z"}, *months(1)])
    assert any(each.startswith("/waves/0/closes: devices send") for each in suggestions(panel))


@pytest.mark.parametrize("language", LANGUAGES)
def test_account_says_what_a_watcher_could_do(language: str) -> None:
    words = Words(language)
    told = {name: words.translate(f"ethics_limit_{name}") for name in ("token", "blind", "blind_now")}

    def said(found: Any) -> set[str]:
        return {name for name, text in told.items() if text in limits(found, words)}

    assert said(survey()) == set()
    assert said(survey(access="token")) == {"token"}
    assert said(asked()) == {"blind", "blind_now"} == set(blind_limits(asked()))
    assert said(asked(24)) == {"blind"}
    assert words.translate("privacy_stored_blind") in stored(asked(24), words)
    assert words.translate("privacy_stored_wait", hours=24) in stored(asked(24), words)
