import html
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator import open_data, open_results
from sottovoce.aggregator.analysis.regression.newton import evaluate
from sottovoce.aggregator.analysis.regression.person_model import PersonModel
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.export.archive import write_folder
from sottovoce.aggregator.settings import Settings
from sottovoce.shared.errors import SurveyError
from sottovoce.shared.spec import Survey

from tests.commands import run
from tests.exported import TODAY, published, send, source
from tests.surveys import months, survey
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.analysis.reports import check_derivatives
from tests.unit.aggregator.api.conftest import post, program_of
from tests.unit.aggregator.studio.joint_pages import SITE, cells, document, get
from tests.unit.shared.test_schema import validate

A, B, C = "0.1594625", "0.1971293", "0.1974625"

MTURK = {
    (A, A, B): (28, 53, 22, 67, 38, 59, 27, 102), (A, B, A): (24, 38, 20, 69, 41, 58, 36, 92),
    (A, B, B): (36, 45, 26, 55, 50, 63, 36, 75), (B, A, A): (11, 25, 11, 27, 20, 47, 10, 37),
    (B, A, B): (13, 38, 9, 32, 15, 22, 17, 48), (B, B, A): (14, 34, 6, 28, 20, 34, 12, 41),
    (C, A, A): (9, 34, 16, 25, 19, 35, 15, 38), (C, A, B): (9, 29, 12, 29, 14, 41, 11, 46),
    (C, B, A): (15, 21, 9, 35, 14, 32, 15, 47),
}  # fmt: skip

"""People by share of the crosswise fact of each item, and by reports 000, 001, .. 111: non voting, shoplifting, tax
evasion in ``MTURK`` of the R package GLMMRR, with known gender; whoever lacks an item is in ``FEW``."""

FEW = [((A, B, ""), "11"), (("", A, A), " 11"), (("", A, A), " 00"), (("", A, B), " 00"), (("", A, B), " 11"),
       (("", B, A), " 10"), (("", B, ""), " 0 "), (("", B, ""), " 1 ")]  # fmt: skip

PUBLIC = {"000": 40, "001": 10, "010": 12, "011": 15, "100": 9, "101": 14, "110": 11, "111": 45}


def _line(facts: tuple[str, ...], reports: str) -> str:
    cells = zip(facts, f"{reports:3}", strict=True)
    return ",".join(f"{report},warner {fact}" if fact else "," for fact, report in cells)


def _mturk(folder: Path) -> Path:
    rows = [_line(facts, "".join(reports)) for facts, people in MTURK.items() for reports, number in
            zip(product("01", repeat=3), people, strict=True) for _ in range(number)]  # fmt: skip
    path = folder / "items.csv"
    header = ",".join(f"{name},{name}_channel" for name in ("voting", "lifting", "tax"))
    path.write_text("\n".join([header, *rows, *(_line(*each) for each in FEW)]))
    return path


def _file(folder: Path, people: dict[str, int], header: str = "x,y,z") -> Path:
    path = folder / "items.csv"
    path.write_text("\n".join([header, *(",".join(cells) for cells, number in people.items() for _ in range(number))]))
    return path


PEOPLE = (527, 299, 486, 342, 359, 238, 408, 341)

"""People by reports 000, 001, .. 111 through a coin flip for each question."""

NAMES = ("copied", "lied", "took")

ASKED = "exams/models?kind=items&questions=copied&questions=lied&questions=took"


def exams(*more: dict[str, Any], **options: Any) -> Survey:
    questions = [{"type": "boolean", "name": name, "label": {"en": name.title()}, "mechanism": {"name": "coin_flip"}}
                 for name in NAMES]  # fmt: skip
    public = {"type": "boolean", "name": "moved", "label": {"en": "Moved"}, "public": True}
    return survey(name="exams", questions=[*questions, public, *more], **options)


ROWS = [[*each, at % 2] for each, n in zip(product((0, 1), repeat=3), PEOPLE, strict=True) for at in range(n)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Flask]]:
    folder = tmp_path_factory.mktemp("items")
    (folder / "data").mkdir()
    (folder / "files").mkdir()
    storage = published(folder / "data", exams())
    send(storage, exams(), ROWS)
    storage.close_survey("exams", TODAY)
    write_folder(source(storage, exams()), folder / "files")
    yield folder, create_app(Settings(public_url=SITE), storage, now, {})
    storage.close()


@pytest.fixture
def client(place: tuple[Path, Flask]) -> FlaskClient:
    return log_in(place[1])[0]


GENERATOR = np.random.Generator(np.random.PCG64(3))

KNOWN = GENERATOR.uniform(0.1, 0.9, (3, 11, 2))

WEIGHTS = np.arange(1.0, 12.0)


def test_rasch_model_has_the_figures_of_quadrature(tmp_path: Path) -> None:
    """Difficulties .5455 (.0790), .1573, 1.5376, standard deviation .7096 (.153), log likelihood -4,580.060."""
    found = open_data(_mturk(tmp_path)).items("voting", "lifting", "tax")
    validate("items", found.document)
    difficulties = [row["estimate"] for row in found.rows]
    assert difficulties == pytest.approx([0.5455, 0.1573, 1.5376], abs=1e-4)
    assert found.rows[0]["std_error"] == pytest.approx(0.0790, abs=1e-4)
    spread = found.document["sd"]
    assert [spread["estimate"], spread["std_error"]] == pytest.approx([0.7096, 0.153], abs=5e-4)
    assert found.document["log_likelihood"] == pytest.approx(-4580.060, abs=1e-3)
    assert found.document["n"] == 2309
    assert found.document["test"]["p"] < 0.005
    assert "No person has a score" in str(found)


def test_people_who_do_not_differ_have_the_standard_deviation_0_with_an_upper_limit(tmp_path: Path) -> None:
    """Reports that go together less than by chance; the test of no difference has p 1."""
    people = {"".join(cells): 30 if cells[0] == cells[1] == cells[2] else 40 for cells in product("01", repeat=3)}
    found = open_data(_file(tmp_path, people)).items("x", "y", "z").document
    validate("items", found)
    assert (found["sd"]["estimate"], found["sd"]["std_error"], found["sd"]["low"]) == (0.0, None, 0.0)
    assert 0 < found["sd"]["high"] < 1
    assert found["test"]["p"] == 1.0


def test_two_parameters_fit_three_items_exactly(tmp_path: Path) -> None:
    """Three items have seven free shares and six parameters: the fit is at least as good as Rasch, alike or not."""
    data = open_data(_file(tmp_path, PUBLIC))
    rasch, both = data.items("x", "y", "z").document, data.items("x", "y", "z", model="2pl").document
    validate("items", both)
    gain = both["log_likelihood"] - rasch["log_likelihood"]
    assert gain > 0
    assert both["test"]["statistic"] == pytest.approx(2 * gain)
    assert both["test"]["p"] == pytest.approx(np.exp(-gain))
    assert all(each["discrimination"]["estimate"] > 0 for each in both["items"])


def test_sum_of_public_items_is_counted_and_of_randomized_ones_recovered(tmp_path: Path) -> None:
    """Without noise the shares are counts; through coin flips they are those of expected reports."""
    names = ("x", "y", "z")
    public = open_data(_file(tmp_path, PUBLIC)).items(*names, model="sum").document
    counts = np.bincount([cells.count("1") for cells in PUBLIC], [*PUBLIC.values()])
    validate("items", public)
    assert public["distribution"] == pytest.approx((counts / counts.sum()).tolist(), abs=1e-6)
    total = np.repeat(np.arange(4), counts.astype(int))
    assert [public["mean"]["estimate"], public["variance"]] == pytest.approx([total.mean(), total.var()])
    flip = np.array([[3, 1], [1, 3]])
    expected = np.kron(np.kron(flip, flip), flip) @ [*PUBLIC.values()]
    reports = {"".join(cells): int(number) for cells, number in zip(product("01", repeat=3), expected, strict=True)}
    channels = dict.fromkeys(names, "coin_flip")
    found = open_data(_file(tmp_path, reports), channels).items(*names, model="sum").document
    assert found["distribution"] == pytest.approx(public["distribution"], abs=1e-3)
    assert [found["mean"]["estimate"], found["variance"]] == pytest.approx([total.mean(), total.var()])


@pytest.mark.parametrize(("items", "people"), [(5, 300), (12, 60)])
def test_sum_is_likeliest_on_all_combinations(items: int, people: int, tmp_path: Path) -> None:
    """Through unlike channels: plain EM on all combinations, one after the other, finds the same shares."""
    draws = np.random.default_rng(items)
    names, noise = [f"q{place}" for place in range(items)], np.linspace(0.01, 0.2, items)
    rows = np.where(draws.random((people, items)) < noise, 1, draws.random((people, items)) < 0.3).astype(int)
    reports = {"".join(map(str, row)): 1 for row in rows.tolist()}
    told = {name: f"forced_response yes={yes} no=0.05" for name, yes in zip(names, noise.tolist(), strict=True)}
    found = open_data(_file(tmp_path, reports, ",".join(names)), told).items(*names, model="sum").document
    chances, yes = np.ones((len(reports), 1)), np.zeros(1)
    for place, share in enumerate(noise):
        said = np.array([cells[place] == "1" for cells in reports])
        both = np.where(said[:, None], [share, 0.95], [1 - share, 0.05])
        chances = np.concatenate([chances * both[:, :1], chances * both[:, 1:]], axis=1)
        yes = np.concatenate([yes, yes + 1])
    table = np.full(len(yes), 1 / len(yes))
    for _ in range(3000):
        table *= (1 / (chances @ table)) @ chances / len(reports)
    assert found["n"] == len(reports)
    assert found["distribution"] == pytest.approx(np.bincount(yes.astype(int), table).tolist(), abs=2e-4)


@pytest.mark.parametrize("reports", ["111", "000", "100"])
def test_equal_totals_do_not_make_the_mean_sum_certain(tmp_path: Path, reports: str) -> None:
    """Their error is 0, or what rounding leaves of it: limits are those of so many people."""
    for yes, people in ((1 / 6, 333), (0.07, 3), (0.1, 333), (0.02, 10)):
        told = dict.fromkeys("xyz", f"forced_response yes={yes} no=0.2")
        found = open_data(_file(tmp_path, {reports: people}), told).items("x", "y", "z", model="sum").document
        assert found["mean"]["high"] - found["mean"]["low"] > 1 / people


@pytest.mark.parametrize("reports", [{"111": 5, "000": 4}, {"000": 9}, {"011": 5, "100": 4}])
def test_sum_is_one_that_people_can_have(tmp_path: Path, reports: dict[str, int]) -> None:
    """Few coin flips: unbiased, their mean is down to -1.5, and the variance 6.6, where 2.1 is possible."""
    data = open_data(_file(tmp_path, reports), dict.fromkeys("xyz", "coin_flip"))
    found = data.items("x", "y", "z", model="sum").document
    validate("items", found)
    mean = found["mean"]
    assert 0 <= mean["low"] <= mean["estimate"] <= mean["high"] <= 3
    assert 0 <= found["variance"] <= mean["estimate"] * (3 - mean["estimate"])


def test_command_prints_a_model_and_a_sum(tmp_path: Path) -> None:
    words = ["results", "items", str(_file(tmp_path, PUBLIC)), "x", "y", "z"]
    printed = run(*words).output
    assert "Standard deviation between people" in printed
    assert "x: difficulty" in printed
    summed = run(*words, "--model", "sum").output
    assert "1.58 │       0.09 │ 1.40 to 1.76" in summed
    # Under the name that the page's menu has.
    assert "items.csv: Number of yes (n = " in summed
    assert json.loads(run(*words, "--model", "2pl", "--json").output)["sd"] is None
    assert "counts as yes" not in printed
    assert 'items.csv has no column "w". It has: x, y, z.' in run(*words[:-1], "w").output
    letters = _file(tmp_path, {"a0b": 5, "b1a": 5, "a1b": 5})
    assert "'x': 'b' counts as yes." in run("results", "items", str(letters), "x", "y", "--model", "sum").output


@pytest.mark.parametrize(
    ("names", "options", "words"),
    [
        (("x",), {}, "takes 2 to 20 items"),
        (("x", "x"), {}, "'x' is asked for twice"),
        (("x", "y"), {"model": "2pl"}, "'2pl' takes 3 to 20"),
        (("x", "y"), {"model": "3pl"}, "rasch, 2pl, sum"),
        (("x", "w"), {}, "there are: x, y, z"),
        (("x", "z"), {}, "'z' has other answers than yes and no"),
    ],
)
def test_what_has_no_such_model_is_refused(
    names: tuple[str, ...], options: dict[str, str], words: str, tmp_path: Path
) -> None:
    data = open_data(_file(tmp_path, {"01a": 5, "10b": 5, "11c": 5}))
    with pytest.raises(SurveyError) as refused:
        data.items(*names, **options)  # type: ignore[arg-type]
    assert words in str(refused.value)


def test_items_that_no_person_has_together_are_refused(tmp_path: Path) -> None:
    """One report of each person tells nothing of differences between people."""
    path = tmp_path / "items.csv"
    path.write_text("\n".join(["x,y", *["1,", "0,", ",1", ",0"] * 9]))
    with pytest.raises(SurveyError, match="no person has reports of two of these items"):
        open_data(path).items("x", "y")


def test_items_randomized_together_are_refused(tmp_path: Path) -> None:
    """Their reports depend on each other given the truth, which the model takes as independent."""
    channel = "joint_rr odds=9 radius=0 k=2,2 with=x,y"
    data = open_data(_file(tmp_path, PUBLIC), {"x": channel, "y": channel})
    with pytest.raises(SurveyError, match="randomized together"):
        data.items("x", "y")


@pytest.mark.parametrize("model", ["rasch", "2pl", "sum"])
def test_every_way_gives_what_a_file_of_the_reports_gives(place: tuple[Path, Flask], model: str) -> None:
    folder, app = place
    found = document(app, "exams", "items", questions=list(NAMES), model=model)
    validate("items", found)
    (folder / "rows.csv").write_text("\n".join([",".join(NAMES), *(",".join(map(str, row[:3])) for row in ROWS)]))
    alone = open_data(folder / "rows.csv", dict.fromkeys(NAMES, "coin_flip")).items(*NAMES, model=model).document

    assert {**found, "file": ""} == {**alone, "file": ""}
    for more in (["exams", *NAMES, "--data", str(folder / "data")], [*NAMES, "--from", str(folder / "files")]):
        printed = run("results", "items", "--model", model, "--json", *more).stdout
        assert json.loads(printed) == json.loads(json.dumps(found))
    assert dict(open_results(folder / "files").items(*NAMES, model=model).document) == found


def test_order_of_reports_changes_no_digit_of_a_sum(tmp_path: Path) -> None:
    """Reports come by their random ids, in another order from each server and file: one of 100 had another digit."""
    path, rows, found = tmp_path / "rows.csv", [",".join(map(str, row[:3])) for row in ROWS], set()
    for order in (range(len(rows)), *(np.random.default_rng(seed).permutation(len(rows)) for seed in (74, 95, 177))):
        path.write_text("\n".join([",".join(NAMES), *(rows[place] for place in order)]))
        made = open_data(path, dict.fromkeys(NAMES, "coin_flip")).items(*NAMES, model="sum").document
        found.add(json.dumps({**made, "file": ""}))
    assert len(found) == 1


def test_page_offers_randomized_questions_and_shows_the_model(client: FlaskClient) -> None:
    form = get(client, "exams/models").text
    assert 'name="questions" value="copied"' in form
    assert 'name="questions" value="moved"' not in form
    page = html.unescape(get(client, f"{ASKED}&model=2pl").text)
    assert "Copied: discrimination" in [line[0] for line in cells(page)]
    assert "results.items('copied', 'lied', 'took', model='2pl')" in page
    assert "Schwierigkeit" in get(client, ASKED, "de").text
    subset = get(client, f"{ASKED}&model=sum&where=moved = yes")
    assert "moved = yes" in html.unescape(subset.text)


def test_programs_ask_with_a_key(place: tuple[Path, Flask]) -> None:
    app = place[1]
    asked = {"questions": list(NAMES), "model": "sum"}
    reply = post(program_of(app), "/api/v1/surveys/exams/items", asked)
    assert (reply.status_code, reply.json) == (200, document(app, "exams", "items", **asked))
    assert post(app.test_client(), "/api/v1/surveys/exams/items", asked).status_code == 401


def test_files_alone_have_list_experiments_and_designs(client: FlaskClient) -> None:
    """A survey's address for one says where it is analysed."""
    assert 'value="list_experiment"' not in get(client, "exams/tables").text
    refused = get(client, "exams/tables?kind=list_experiment&count=copied&arm=moved")
    assert (refused.status_code, "download its files" in html.unescape(refused.text)) == (422, True)


@pytest.mark.parametrize(
    ("asked", "names", "why"),
    [
        (exams(), ["copied", "moved"], "'moved' is public"),
        (exams(), ["copied", "copied"], "'copied' is asked for twice"),
        (exams(), ["copied", "nothing"], "asks no such question"),
        (
            exams({"type": "boolean", "name": "then", "label": {"en": "Then"}, "mechanism": {"name": "coin_flip"},
                   "visible_if": {"moved": ["yes"]}, "when_absent": "no"}),
            ["copied", "then"], "'then' is not shown to everybody",
        ),
        (
            exams({"type": "boolean", "name": "born", "label": {"en": "Born"}, "procedure": "crosswise",
                   "innocuous": {"label": {"en": "Mother in May?"}, "share": "1/4", "se": "1/50", "fact": "may",
                                 "source": {"en": "Guess"}}}),
            ["copied", "born"], "an innocuous share that has a standard error",
        ),
        (
            exams({"type": "select_multiple", "name": "did", "label": {"en": "Did"},
                   "mechanism": {"name": "sampled_option", "epsilon": "1"},
                   "choices": [{"name": name, "label": {"en": name}} for name in "xyz"]}),
            ["did.x", "did.y"], "no report contains two options",
        ),
    ],
)  # fmt: skip
def test_what_is_no_item_is_refused(asked: Survey, names: list[str], why: str) -> None:
    rows = [[*row, at % (asked.questions[-1].largest + 1)][: len(asked.questions)] for at, row in enumerate(ROWS)]
    with pytest.raises(SurveyError, match=why):
        parse_request("items", {"questions": names}).document(_columns(asked, rows))


def _columns(asked: Survey, rows: list[list[int]], **more: Any) -> Columns:
    arrays = dict(zip([each.name for each in asked.questions], np.array(rows, float).T, strict=True))
    return Columns.from_arrays(asked, arrays, **more)


def test_waves_of_the_same_people_need_one_wave() -> None:
    both = _columns(exams(waves=months(2)), ROWS, wave=np.arange(len(ROWS)) % 2)
    with pytest.raises(SurveyError, match="choose one wave"):
        parse_request("items", {"questions": list(NAMES)}).document(both)
    assert parse_request("items", {"questions": list(NAMES), "wave": 1}).document(both)["n"] == len(ROWS) // 2


@pytest.mark.parametrize(("kind", "theta"), [("rasch", [0.3, -0.4, 1.2, 0.8]), ("2pl", [0.3, -0.4, 1, 0.8, -0.5, 1.4])])
def test_gradient_and_information_are_the_derivatives_of_the_likelihood(kind: str, theta: list[float]) -> None:
    """At a point that is no maximum, with a weight for each combination."""
    own = np.tile(np.eye(3), 11)
    loads = np.ones((1, 33)) if kind == "rasch" else own
    model = PersonModel(-own, loads, KNOWN.swapaxes(0, 1).reshape(-1, 2), np.arange(12) * 3, 30, WEIGHTS)
    found = check_derivatives(model, np.array(theta), 1e-5)
    assert model.scores(np.array(theta), slice(0, 11)) @ WEIGHTS == pytest.approx(found.gradient)


TRUTH, NOISE = np.array([0.5, 0.0, 1.0, -0.5, 1.2, 0.8, 1.3, 1.0]), (1 / 6, 1 / 12)

"""Four difficulties, and four slopes."""

Z = np.linspace(-8, 8, 321)


def _shares(theta: np.ndarray) -> np.ndarray:
    yes = 1 / (1 + np.exp(theta[:4, None] - theta[4:, None] * Z))
    said = NOISE[0] + (1 - sum(NOISE)) * yes
    sets = [np.prod([one if each else 1 - one for one, each in zip(said, cells, strict=True)], axis=0)
            for cells in product((0, 1), repeat=4)]  # fmt: skip
    masses = np.exp(-(Z**2) / 2)
    found: np.ndarray = np.array(sets) @ masses / masses.sum()
    return found


def test_points_are_enough_for_steep_slopes_through_noise() -> None:
    """Beside a narrow peak, noise leaves as much of the normal distribution as there is."""
    cells, places, theta = [*product((0, 1), repeat=4)], np.tile(np.eye(4), 16), np.array([3.0, -3.0, 4.0, 1.0, 4.0])
    reported = np.array([[1 - NOISE[0], NOISE[1]], [NOISE[0], 1 - NOISE[1]]])[np.ravel(cells)]
    people = np.arange(16.0, 0, -1)
    model = PersonModel(-places, np.ones((1, 64)), reported, np.arange(17) * 4, 60, people)
    exact = people @ np.log(_shares(theta[[0, 1, 2, 3, 4, 4, 4, 4]]))
    assert evaluate(model.at_peaks(theta), theta).log_likelihood == pytest.approx(exact, abs=1e-3)


def _own_maximum(counts: np.ndarray, theta: np.ndarray, free: list[int]) -> tuple[np.ndarray, float]:
    for _ in range(30):
        now, steps = _shares(theta), 1e-5 * np.eye(8)[free]
        slopes = np.array([_shares(theta + step) - _shares(theta - step) for step in steps]) / 2e-5
        step = np.linalg.solve(counts.sum() * (slopes / now) @ slopes.T, slopes @ (counts / now))
        theta = theta + step @ np.eye(8)[free]
        if np.abs(step).max() < 1e-6:
            break
    return theta, float(counts @ np.log(_shares(theta)))


def _reported(people: int, seed: int) -> np.ndarray:
    drawn = np.random.Generator(np.random.PCG64(seed)).multinomial(people, _shares(TRUTH))
    return np.asarray(drawn, float)


def _fitted(folder: Path, counts: np.ndarray) -> Any:
    people = {"".join(map(str, cells)): int(n) for cells, n in zip(product((0, 1), repeat=4), counts, strict=True)}
    told = dict.fromkeys("wxyz", f"forced_response yes={NOISE[0]!r} no={NOISE[1]!r}")
    return open_data(_file(folder, people, "w,x,y,z"), told).items(*"wxyz", model="2pl").document


def test_limits_of_discriminations_are_where_the_profile_likelihood_falls_by_1_92(tmp_path: Path) -> None:
    """Of four items through noise, for each limit of each item, to 1e-3."""
    counts = _reported(4000, 2)
    found = _fitted(tmp_path, counts)
    best, most = _own_maximum(counts, TRUTH, [*range(8)])

    assert found["log_likelihood"] == pytest.approx(most, abs=1e-4)
    for place, item in enumerate(found["items"]):
        slope = item["discrimination"]
        assert slope["estimate"] == pytest.approx(best[4 + place], abs=1e-4)
        for end in (slope["low"], slope["high"]):
            at = best + (end - best[4 + place]) * np.eye(8)[4 + place]
            fallen = most - _own_maximum(counts, at, [each for each in range(8) if each != 4 + place])[1]
            assert fallen == pytest.approx(1.959964**2 / 2, abs=1e-3)


def test_limit_of_a_steep_slope_is_right_or_none(tmp_path: Path) -> None:
    """Of 700 people: at 5 it takes more points than the maximum; a profile that never falls by 1.92 has no limit."""
    ends = []
    for seed, item in ((0, 0), (1, 2)):
        counts = _reported(700, seed)
        document = _fitted(tmp_path, counts)
        found, notes = document["items"], document["warnings"]
        missing = any(None in (each["discrimination"]["low"], each["discrimination"]["high"]) for each in found)
        assert [note.split(",")[0] for note in notes] == ["where a limit is missing"] * missing
        ends.append(found[item]["discrimination"]["high"])
        best, most = _own_maximum(counts, TRUTH, [*range(8)])
        for slope in (3.0, ends[0] if item == 0 else 20.0):
            best = best + (slope - best[4 + item]) * np.eye(8)[4 + item]
            best, now = _own_maximum(counts, best, [each for each in range(8) if each != 4 + item])
        assert most - now == pytest.approx(1.959964**2 / 2, abs=0.012) if item == 0 else most - now < 1.9
    assert 4 < ends[0] < 6
    assert ends[1] is None


@pytest.mark.parametrize(
    ("people", "channels", "item", "low", "high"),
    [
        ((210, 83, 96, 72, 116, 77, 69, 77), ("coin_flip", "warner 0.9", "warner 0.9"), 0, 0.428, 8.149),
        ((210, 83, 96, 72, 116, 77, 69, 77), ("coin_flip", "warner 0.9", "warner 0.9"), 1, 0.366, 2.067),
        ((27, 22, 24, 38, 17, 17, 21, 34), ("coin_flip", "", "warner 0.9"), 0, 0.0, None),
        ((27, 22, 24, 38, 17, 17, 21, 34), ("coin_flip", "", "warner 0.9"), 2, 0.025, None),
        ((34, 38, 24, 55, 5, 14, 12, 18), ("", "", ""), 2, None, None),
    ],
)
@pytest.mark.filterwarnings("error")
def test_limit_is_no_point_where_another_slope_runs_off(
    people: tuple[int, ...], channels: tuple[str, ...], item: int, low: float | None, high: float | None, tmp_path: Path
) -> None:
    """By own profiles of 600 even points with the first slope above 0; where the search leaps, a limit was at -.5."""
    counted = {"".join(cells): n for cells, n in zip(product("01", repeat=3), people, strict=True)}
    told = {name: channel for name, channel in zip("xyz", channels, strict=True) if channel}
    found = open_data(_file(tmp_path, counted), told).items(*"xyz", model="2pl").document["items"][item]
    for end, expected in zip(("low", "high"), (low, high), strict=True):
        assert found["discrimination"][end] == (None if expected is None else pytest.approx(expected, abs=0.01))
