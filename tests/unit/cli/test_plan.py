"""What ``plan`` says of a question, and what it refuses to say."""

import json
from pathlib import Path

import pytest
from click.testing import Result
from sottovoce.aggregator.export.archive import write_folder
from sottovoce.aggregator.export.catalogue import preregistration
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.blocks import block, in_block
from tests.commands import run
from tests.documents import day, number, one_of, question, survey
from tests.exported import TODAY, published, send, source
from tests.unit.aggregator.studio.results.test_arm_pages import reports, study

LAYERS = {"permanent": {"name": "coin_flip"}, "instantaneous": {"name": "coin_flip"}}


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A survey with a coin flip, twenty options, an age, a day, a public age, and answers that are remembered."""
    asked = {
        "cheated": question({"name": "coin_flip"}),
        "brand": one_of(20, {"epsilon": "1"}),
        "age": number(0, 100, 1, {"epsilon": "1"}),
        "day": day("2020-01-01", "2020-12-31", {"epsilon": "1"}),
        "open": {"type": "integer", "label": {"en": "Q"}, "min": 0, "max": 100, "public": True},
        "smokes": question({"name": "memoized_rr", **LAYERS, "waves": 3}),
    }
    document = survey(*({**made, "name": name} for name, made in asked.items()), default_language="en")
    (tmp_path / "survey.json").write_text(json.dumps(document), encoding="utf-8")
    return str(tmp_path / "survey.json")


def plan(*words: str) -> Result:
    return run("plan", *words)


def test_curve_has_the_questions_own_point(path: str) -> None:
    """Subsets of twenty options: 5,120 reports at its own epsilon 1, which is marked; others at theirs."""
    words = (path, "--question", "brand", "-p", "0.05", "--half-width", "0.05")
    shown = plan(*words)
    document = json.loads(plan(*words, "--json").stdout)

    assert "over epsilon (subset_selection)" in shown.stdout
    assert "1.00 (this plan)" in shown.stdout
    assert [point["epsilon"] for point in document["curve"] if point["own"]] == [document["epsilon"]]
    assert next(point["reports"] for point in document["curve"] if point["own"]) == document["reports"] == 5120
    assert [point["reports"] for point in document["curve"]] == sorted(
        (point["reports"] for point in document["curve"]), reverse=True
    )
    assert len(document["curve"]) == 7


def test_plan_without_a_survey_says_that_publishing_chooses() -> None:
    """The same figure for the same options and epsilon."""
    made = plan("--epsilon", "1", "--options", "20", "-p", "0.05", "--half-width", "0.05")

    assert made.stdout.startswith("5,120 reports, epsilon 1.00")
    assert "over epsilon (what publishing chooses)" in made.stdout


def test_mean_is_planned_in_the_numbers_own_unit(path: str) -> None:
    """Years for an age, days for a day; no sentence about no-sayers."""
    age = plan(path, "--question", "age", "--mean", "30", "--half-width", "4")
    groups = plan(path, "--question", "day", "--mean", "2020-03-01", "--against", "2020-04-01", "--json")

    assert age.stdout.startswith("2,715 reports, epsilon 1.00, rounding_rr (")
    assert "\n505 if the question were asked openly" in age.stdout
    assert "answering no" not in age.stdout
    assert (json.loads(groups.stdout)["groups"], json.loads(groups.stdout)["goal"]["other"]) == (2, 18353)


def test_public_question_is_planned_without_a_curve(path: str) -> None:
    """It costs no epsilon, and there is nothing to compare it with."""
    words = (path, "--question", "open", "--mean", "30", "--half-width", "4")

    assert plan(*words).stdout == "505 reports, asked openly\n"
    assert [json.loads(plan(*words, "--json").stdout)[key] for key in ("epsilon", "curve")] == [None, []]


def test_memoized_answers_have_their_own_point_only(path: str) -> None:
    words = (path, "--question", "smokes", "-p", "0.1", "--half-width", "0.1")
    shown = plan(*words).stdout

    assert shown.startswith("1,476 reports in each wave, epsilon of all 3 waves 1.36, memoized_rr (")
    assert "memoized_rr is not made from an epsilon: there is no curve over it." in shown
    assert [point["own"] for point in json.loads(plan(*words, "--json").stdout)["curve"]] == [True]


def test_public_question_is_asked_of_everybody(path: str) -> None:
    """Under ``ask`` only the private ones are drawn."""
    file = Path(path)
    document = json.loads(file.read_text(encoding="utf-8"))
    document["questions"] = [each for each in document["questions"] if each["name"] != "smokes"]
    file.write_text(json.dumps({**document, "ask": 2}), encoding="utf-8")
    openly, age = (
        json.loads(plan(path, "--question", name, "--mean", "30", "--half-width", "4", "--json").stdout)
        for name in ("open", "age")
    )

    assert openly["invitations"] == openly["reports"] == 505
    assert (age["invitations"], age["reports"]) == (2 * 2715, 2715)


def test_question_that_public_answers_hide_says_who_counts(tmp_path: Path) -> None:
    """Not one that a randomized answer hides: people who were not asked stay in its counts."""
    coin = question({"name": "coin_flip"})
    public = {"type": "boolean", "label": {"en": "Q"}, "public": True}
    hidden = {**coin, "when_absent": "no"}
    asked = {
        "works": public,
        "cheated": coin,
        "at_work": hidden | {"visible_if": {"works": "yes"}},
        "stole": hidden | {"visible_if": {"works": "yes", "cheated": "yes"}},
        "sold": coin | {"absent_category": True, "visible_if": {"works": "yes", "cheated": "yes"}},
        "caught": hidden | {"visible_if": {"cheated": "yes"}},
        "either": hidden | {"any_of": {"works": "yes", "cheated": "yes"}},
    }
    document = survey(*({**made, "name": name} for name, made in asked.items()), default_language="en")
    path = tmp_path / "survey.json"
    path.write_text(json.dumps(document), encoding="utf-8")

    said = [
        name
        for name in asked
        if "is not asked of everybody"
        in plan(str(path), "--question", name, "-p", "0.1", "--half-width", "0.05").stdout
    ]
    assert said == ["at_work", "sold"]
    both = (str(path), "--question", "at_work", "--with", "cheated", "-p", "0.2", "--odds-ratio", "3")
    assert plan(*both).stdout.startswith(
        "'at_work' is not asked of everybody: only people whose public answers lead to"
    )
    assert json.loads(plan(*both, "--json").stdout)


def test_help_calls_the_usual_formula_by_its_name() -> None:
    """It promises nothing of the interval that is shown."""
    words = " ".join(plan("--help").stdout.split())

    assert "Probability that the interval shown is no wider than wanted" in words
    assert "the usual formula, which promises nothing of the interval shown" in words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["FILE", "--question", "age", "-p", "0.3", "--half-width", "0.1"], "'age' asks for a number: plan its mean"),
        (["FILE", "--question", "cheated", "--mean", "3", "--half-width", "0.1"], "'cheated' estimates shares"),
        (["FILE", "--question", "age", "--mean", "101", "--half-width", "4"], "--mean must lie between 0 and 100"),
        (["FILE", "--question", "age", "--mean", "30", "--half-width", "400"], "the half-width must lie between"),
        (["FILE", "--question", "day", "--mean", "30", "--half-width", "4"], "--mean must be a date"),
        (["FILE", "--question", "age", "--mean", "30", "--against", "x"], "--against must be a number"),
        (["FILE", "--question", "age", "--mean", "30", "--half-width", "4", "--own-coin"], "--own-coin is for shares"),
        (["FILE", "--question", "cheated", "-p", "0.1", "--half-width", "0.1", "--epsilon", "2"], "in place of SURVEY"),
        (["FILE", "--question", "cheated", "-p", "0.1", "--half-width", "0.1", "--options", "3"], "in place of SURVEY"),
        (["--question", "cheated", "-p", "0.1", "--half-width", "0.1"], "--question is one of a SURVEY"),
        (["--mean", "3", "--half-width", "0.1"], "without a survey estimates shares"),
        (["--half-width", "0.1"], "--prevalence is needed"),
        (["-p", "0.1", "--against", "0.2", "--assurance", "0.9"], "an assurance is for a half-width"),
        (["-p", "0.1", "--half-width", "0.0001", "--assurance", "0.9"], "up to 10^8 reports"),
        (["-p", "0.1", "--half-width", "0.1", "--epsilon", "0.001"], "epsilon must lie between 0.01 and 10"),
        (["-p", "0.1", "--n", "100"], "--n is for --against, --known or --with"),
        (["-p", "0.1", "--known", "0.2", "--response-rate", "0.5"], "--known and --n count reports"),
        (["-p", "0.1", "--known", "0.1"], "must differ from the known one"),
        (["--total", "2.2"], "--total is for the private questions of a SURVEY"),
        (["FILE", "--compare"], "without a SURVEY"),
        (["--compare", "--epsilon", "nan"], "must"),
        (["--compare", "--epsilon", "0"], "must"),
        (["--compare", "--prevalence", "2"], "needs 2 options at least, a share in"),
    ],
)
def test_plan_refuses_in_words_what_it_cannot_say(path: str, words: list[str], message: str) -> None:
    refused = plan(*(path if word == "FILE" else word for word in words))

    assert (refused.exit_code, refused.stdout) == (1, "")
    assert message in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_pair_of_questions_is_planned_together(path: str) -> None:
    shown = plan(path, "--question", "cheated", "--with", "brand")
    document = json.loads(plan(path, "--question", "cheated", "--with", "brand", "--json").stdout)
    stronger = json.loads(plan(path, "--question", "cheated", "--with", "brand", "--power", "0.9", "--json").stdout)

    assert shown.stdout.startswith("cheated, brand\n100.0% of the reports will contain both questions.\n")
    assert f"{document['cell']:,} reports to estimate a cell of 10% to within 5 points" in shown.stdout
    assert f"{document['odds_ratio']:,} to detect an odds ratio of 2" in shown.stdout
    assert stronger["difference"] > document["difference"] > 0
    assert "means among groups can be compared" in plan(path, "--question", "cheated", "--with", "age").stdout
    for words, said in [
        (["--with", "brand"], "--with is a question of a SURVEY"),
        ([path, "--question", "brand", "--with", "brand"], "two different questions"),
        ([path, "--question", "brand", "--with", "none"], "--question must be one of"),
    ]:
        ended = plan(*words)
        assert (ended.exit_code, said in ended.stderr) == (1, True)


def test_price_of_trusting_nobody_as_table_picture_and_json(tmp_path: Path) -> None:
    shown = plan("--compare", "--epsilon", "1", "--out", str(tmp_path / "price.svg"))
    document = json.loads(plan("--compare", "--epsilon", "1", "--json").stdout)

    assert {row["trust"] for row in document["rows"]} == {"local", "shuffled", "central", "none"}
    assert document["people"] == [10**power for power in range(2, 8)]
    assert "discrete Laplace" in shown.stdout
    assert "no respondent can check it" in shown.stdout
    assert (tmp_path / "price.svg").read_text(encoding="utf-8").count("<polyline") == len(document["rows"])


def test_power_of_a_given_number_is_told(path: str) -> None:
    assert "2,000 reports find it with power 40%" in plan("-p", "0.1", "--against", "0.15", "--n", "2000").stdout
    assert "2,711 reports find 0.1 against the known 0.15" in plan("-p", "0.1", "--known", "0.15").stdout
    pair = (path, "--question", "cheated", "--with", "smokes", "--odds-ratio", "2", "--n", "5000")
    document = json.loads(plan(*pair, "--json").stdout)
    assert set(document) == {"effect", "reports", "n", "power", "smallest"}
    assert "smallest odds ratio" in plan(*pair).stdout
    assert "between cheated (0.2) and smokes (0.1)" in plan(*pair, "-p", "0.2", "--with-prevalence", "0.1").stdout


def test_question_of_a_block_has_a_plan(tmp_path: Path) -> None:
    """By its own channel within the block; other epsilons are those of the whole block."""
    document = survey(block(in_block("cheated"), in_block("copied")), default_language="en")
    (tmp_path / "block.json").write_text(json.dumps(document), encoding="utf-8")
    words = (str(tmp_path / "block.json"), "--question", "cheated", "-p", "0.2", "--half-width", "0.05")
    a, b = parse_survey(document).questions[0].mechanism.block.marginal(0)  # type: ignore[union-attr]
    yes = float(b + (a - b) / 5)
    made = json.loads(plan(*words, "--json").stdout)

    assert made["reports"] == pytest.approx(1.959964**2 * yes * (1 - yes) / float(a - b) ** 2 / 0.05**2, abs=1)
    assert plan(*words).exit_code == 0


def test_questions_reported_together_are_compared_at_both_epsilons(tmp_path: Path) -> None:
    """People and worst-case odds of each design, and the best at the same total and at the same worst case."""
    asked = [{**question({"name": "coin_flip"}), "name": name} for name in ("smokes", "drinks")]
    (tmp_path / "two.json").write_text(json.dumps(survey(*asked)), encoding="utf-8")
    words = (str(tmp_path / "two.json"), "--total", "ln 9", "--goal", "tables")
    shown, document = plan(*words), json.loads(plan(*words, "--json").stdout)

    assert (
        "joint, radius 0                     649                         9:1                        5:1" in shown.stdout
    )
    assert "649 people in the place of 2,305; one question at most 9:1 in the place of 3:1" in shown.stdout
    assert shown.stdout.splitlines()[-2:] == ["best: separate", "no radius is better for smokes, drinks"]
    assert document["questions"] == ["smokes", "drinks"]
    assert document["same_total"]["best"]["people"] == 649


PLAN = [
    {"question": "cheated", "against": "cheated_direct", "measure": "difference", "confidence": "0.9"},
    {"question": "cheated", "against": "cheated_direct", "measure": "ratio", "confidence": "0.95"},
    {"question": "copied", "by": "arm", "measure": "difference", "confidence": "0.95"},
]


def planned(name: str) -> Survey:
    return parse_survey({**study(name).document, "analysis_plan": PLAN})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database and files: "done" and "alone" are closed, "alone" with people of one arm only."""
    folder = tmp_path_factory.mktemp("planned")
    (folder / "data").mkdir()
    (folder / "files").mkdir()
    storage = published(folder / "data", planned("done"), planned("open"), planned("alone"), study("unplanned"))
    for name in ("done", "open"):
        send(storage, planned(name), reports(planned(name)))
    send(storage, planned("alone"), [each for each in reports(planned("alone")) if each[-1] == 0])
    send(storage, study("unplanned"), reports(study("unplanned")))
    for name in ("done", "alone", "unplanned"):
        storage.close_survey(name, TODAY)
    write_folder(source(storage, planned("done")), folder / "files")
    storage.close()
    return folder


def compare(place: Path, *words: str) -> Result:
    return run("results", "compare", *words, "--data", place / "data")


def test_plan_is_carried_out_and_shown_alone(place: Path) -> None:
    found = json.loads(compare(place, "done", "--planned", "--json").stdout)
    alone = ["--outcome", "cheated", "--groups", "arm", "--against", "cheated_direct", "--confidence", "0.9", "--json"]

    assert found["digest"] == planned("done").digest
    assert sorted(found["comparisons"][0]["planned"].items()) == sorted(PLAN[0].items())
    assert found["comparisons"][0]["comparison"] == json.loads(compare(place, "done", *alone).stdout)
    assert [each["problem"] for each in found["comparisons"]] == [None] * 3

    shown = " ".join(compare(place, "done", "--planned").stdout.split())

    assert "The limits are not adjusted for the number of comparisons: 3." in shown
    assert [shown.count(title) for title in ("Difference", "Ratio of")] == [2, 1]
    assert [f"direct, protected ({level}% interval)" in shown for level in (90, 95)] == [True, True]


def test_folder_of_files_gives_the_same(place: Path) -> None:
    """It has the survey, and so the plan; a direct answer is public, and not in files by default."""
    words = ["results", "compare", "--planned", "--from", str(place / "files"), "--json"]
    found = json.loads(run(*words).stdout)["comparisons"]

    assert ["cheated_direct" in str(each["problem"]) for each in found] == [True, True, False]
    assert found[2]["comparison"]["outcome"] == "copied"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["open"], 1, "the survey is open"),
        (["unplanned"], 1, "plans no comparisons"),
        (["none"], 1, "was not found"),
        (["done", "--outcome", "cheated"], 2, "no other option goes with it"),
        (["done", "--confidence", "0.9"], 2, "no other option goes with it"),
    ],
)
def test_what_cannot_be_done_is_refused(place: Path, words: list[str], code: int, said: str) -> None:
    """The plan leaves no choice, and there is no look before the close."""
    ended = compare(place, *words, "--planned")
    assert (ended.exit_code, said in ended.stderr) == (code, True), ended.stderr


def test_comparison_without_a_result_stands_beside_the_others(place: Path) -> None:
    found = json.loads(compare(place, "alone", "--planned", "--json").stdout)["comparisons"]

    assert [each["comparison"] is None for each in found] == [True, True, False]
    assert found[2]["comparison"]["differences"] == []
    assert "There is no result. The reason:" in compare(place, "alone", "--planned").stdout


def test_question_is_still_needed_without_the_flag(place: Path) -> None:
    assert "--outcome" in compare(place, "done").stderr
    assert "--groups" in compare(place, "done", "--outcome", "cheated").stderr


def test_preregistration_has_the_plan(place: Path) -> None:
    (place / "other").mkdir()
    storage = published(place / "other", planned("done"), study("unplanned"))
    found = [
        preregistration(source(storage, each).revisions, About.of(each), PlannedSize())["analysis"]["comparisons"]
        for each in (planned("done"), study("unplanned"))
    ]
    storage.close()

    assert found == [PLAN, []]
