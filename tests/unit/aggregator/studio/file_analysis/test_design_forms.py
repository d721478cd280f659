"""Designs, list experiments, several items and random intercepts of an uploaded file, each on a form of its own."""

import html
import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from sottovoce.aggregator import mixture, open_data

from tests import commands
from tests.unit.aggregator.studio.file_analysis.test_file_page import get, post, send
from tests.unit.aggregator.studio.joint_pages import app, cells, client

__all__ = ["app", "client"]

COUNTS = {"0": (8, 132, 222, 227, 0), "1": (19, 123, 229, 219, 34)}
"""People by count of items, without and with the sensitive one: ``race`` in the R package list."""

YES, N = (200, 330), (500, 500)
CELLS = {"000": 40, "001": 10, "010": 12, "011": 15, "100": 9, "101": 14, "110": 11, "111": 45}
"""People by answers to three items."""


def race() -> bytes:
    """A row for each person, with a predictor that nothing goes with."""
    rows = [(count, arm) for arm, counts in COUNTS.items() for count, n in enumerate(counts) for _ in range(n)]
    return "\n".join(["y,treat,south", *(f"{y},{arm},{at % 2}" for at, (y, arm) in enumerate(rows))]).encode()


def cheaters() -> bytes:
    """Two groups that were told to say yes with chance 1/4 and 3/4."""
    rows = [f"{int(at < YES[arm])},{arm + 1},{at % 3 % 2}" for arm in (0, 1) for at in range(N[arm])]
    return "\n".join(["y,arm,x", *rows]).encode()


def people(long: bool = False) -> bytes:
    """Three answers of each person, in one row or in three."""
    sets = [cells for cells, n in CELLS.items() for _ in range(n)]
    if long:
        rows = [f"{at},{item},{one}" for at, cells in enumerate(sets) for item, one in zip("abc", cells, strict=True)]
        return "\n".join(["id,item,y", *rows]).encode()
    return "\n".join(["a,b,c", *map(",".join, sets)]).encode()


LIST = "/tables?kind=list_experiment&count=y&arm=treat"
CHEATERS = "/tables?kind=design&design=cheater_detection&response=y&group=arm&p=1=.25 2=.75"
ITEMS = "/models?kind=items&questions=a&questions=b&questions=c"
INTERCEPT = "/models?kind=regression&outcome=y&on=item&cluster_effect=id"
FORMS: dict[str, Any] = {
    "list": (race(), LIST, "Sensitive item"),
    "list model": (race(), f"{LIST}&formula=~ south", "Other items: south = 1"),
    "design": (cheaters(), CHEATERS, "Always say no (gamma)"),
    "design model": (cheaters(), f"{CHEATERS}&formula=~ x", "gamma: x = 1"),
    "rasch": (people(), ITEMS, "Standard deviation between people"),
    "2pl": (people(), f"{ITEMS}&model=2pl", "a: discrimination"),
    "sum": (people(), f"{ITEMS}&model=sum", "Mean"),
    "intercept": (people(long=True), INTERCEPT, "Standard deviation of the intercepts"),
}


def asked(client: FlaskClient, form: str, language: str = "en", file: str = "") -> Any:
    """The reply to a form of an uploaded file, or to its download."""
    data, query, _ = FORMS[form]
    return get(
        client, send(client, data).headers["Location"] + query.replace("?", f"/{file}?" if file else "?"), language
    )


@pytest.mark.parametrize("form", FORMS)
def test_each_form_shows_its_result(client: FlaskClient, form: str) -> None:
    """Open, with what was asked for, above tables without an error."""
    reply = asked(client, form)
    page = html.unescape(reply.text)
    assert (reply.status_code, 'class="error"' in page) == (200, False)
    assert FORMS[form][2] in [line[0] for line in cells(page)]
    kind = FORMS[form][1].partition("kind=")[2].partition("&")[0]
    assert kind == "regression" or f'value="{kind}"' in page.partition('<details class="card" open>')[2][:400]


def test_figures_are_those_of_python(client: FlaskClient) -> None:
    """Shares of the design by its counts, and the difference of the list's means."""
    found = json.loads(asked(client, "design", file="answer.json").text)
    assert found["shares"] == mixture("cheater_detection", [0.25, 0.75], YES, N).document["shares"]
    listed = json.loads(asked(client, "list model", file="answer.json").text)
    assert listed["share"]["raw"] == pytest.approx(0.0678, abs=5e-5)
    assert listed["model"]["coefficients"][0]["treated"] == "1"


def sample() -> bytes:
    """Reports of two strata of three places each, with weights, and an anchor that nobody has."""
    rows = [
        f"{'yes' if at * 7 % 10 < 4 else 'no'},{'yes' if at % 3 == 0 else 'no'},{1 + at % 3},{at // 60},{at // 20}"
        for at in range(120)
    ]
    return "\n".join(["cheated,moon,w,stratum,place", *rows]).encode()


@pytest.mark.parametrize(
    ("query", "words", "options"),
    [
        ("&weights=w&strata=stratum&clusters=place&confidence=90",
         ["--weights", "w", "--strata", "stratum", "--clusters", "place", "--confidence", "0.9"],
         {"weights": "w", "strata": "stratum", "clusters": "place", "confidence": 0.9}),
        ("&weights=w", ["--weights", "w"], {"weights": "w"}),
        ("&anchors=moon=0", ["--anchor", "moon=0"], {"anchors": {"moon": "0"}}),
    ],
)  # fmt: skip
def test_shares_of_a_sample_are_those_of_the_terminal_and_of_python(
    client: FlaskClient, tmp_path: Path, query: str, words: list[str], options: dict[str, Any]
) -> None:
    """Weighted, in strata of clusters, or corrected by an anchor; on the page and in its files."""
    (tmp_path / "answers.csv").write_bytes(sample())
    channels = {"cheated": "coin_flip", "moon": "coin_flip"}
    expected = dict(open_data(tmp_path / "answers.csv", channels).shares(**options).document)
    given = [part for name in channels for part in ("--channel", f"{name}=coin_flip")]
    terminal = commands.run("results", "estimate", tmp_path / "answers.csv", *given, *words, "--json").stdout
    address = send(client, sample()).headers["Location"]
    post(client, address, **{f"channel.{name}": channel for name, channel in channels.items()})
    wanted = f"{address}/tables?kind=estimate{query}"
    page, file = get(client, wanted), get(client, wanted.replace("?", "/answer.json?")).json

    assert json.loads(terminal)["questions"] == json.loads(json.dumps(expected))["questions"] == file["questions"]
    assert (page.status_code, 'class="error"' in page.text) == (200, False)
    lines = get(client, wanted.replace("?", "/answer.csv?")).text.splitlines()
    assert {"careless", "corrected share"}.isdisjoint({line.partition(",")[0] for line in lines}) == (
        "anchor" not in query
    )
    assert any(line.startswith("share,cheated,") for line in lines)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("&anchors=moon", "muss Spalten mit ihren bekannten Anteilen"),
        ("&anchors=moon=2", "bekannte Anteil des Ankers"),
        ("&anchors=moon=0&weights=w", "gehen nicht zusammen"),
        ("&weights=cheated", "ist keine Zahl über 0"),
        ("&strata=row", "hat nur einen Klumpen"),
        ("&clusters=gap", "ist leer"),
    ],
)
def test_sample_that_has_no_shares_is_refused(client: FlaskClient, query: str, why: str) -> None:
    """In the reader's language, with the place in the file."""
    rows = [f"{line},{at},{'' if at == 3 else 'a'}" for at, line in enumerate(sample().decode().splitlines()[1:])]
    data = "\n".join(["cheated,moon,w,stratum,place,row,gap", *rows]).encode()
    address = send(client, data).headers["Location"]
    post(client, address, **{"channel.cheated": "coin_flip", "channel.moon": "coin_flip"})
    reply = get(client, f"{address}/tables?kind=estimate{query}", "de")
    assert reply.status_code == 422
    assert why in html.unescape(reply.text).partition('id="refused"')[2].partition("</div>")[0]


@pytest.mark.parametrize(
    ("form", "figures"),
    [
        ("list model", {"share", "test of design effects", "coefficient"}),
        ("design model", {"share", "misfit", "coefficient"}),
        ("2pl", {"difficulty", "discrimination", "test"}),
        ("sum", {"mean", "share by number of yes"}),
    ],
)
def test_tables_are_downloaded(client: FlaskClient, form: str, figures: set[str]) -> None:
    lines = asked(client, form, file="answer.csv").text.splitlines()
    assert figures <= {line.partition(",")[0] for line in lines}


def test_each_language_has_its_words(client: FlaskClient) -> None:
    """Of the form and of the result."""
    german = asked(client, "list", "de").text
    assert "Listenexperiment" in german
    assert "Heikle Aussage" in german


@pytest.mark.parametrize(
    ("form", "more", "why"),
    [
        ("list", "&where=south = 1", "goes without this analysis"),
        ("list", "&items=2", "larger than the number of items (2)"),
        ("list", "&treated=7", "must have two values, one of them '7'"),
        ("list", "&direct=south&formula=y ~ south", "names predictors only"),
        ("design", "&draws=3", "only kuk has several draws"),
        ("design", "&formula=~ arm", "column of the design itself"),
        ("rasch", "&questions=a", ""),
        ("intercept", "&model=linear", "logit"),
    ],
)
def test_what_does_not_go_together_is_refused(client: FlaskClient, form: str, more: str, why: str) -> None:
    """On the page, with the reason; a name that is ticked twice is one."""
    data, query, _ = FORMS[form]
    reply = get(client, f"{send(client, data).headers['Location']}{query}{more}")
    assert (reply.status_code, why in html.unescape(reply.text)) == (422 if why else 200, True)


@pytest.mark.parametrize(
    ("p", "why"), [("", "is missing"), ("1=.25 1=.75", "names a group twice"), ("1=.5 2=.5", "same p")]
)
def test_odds_that_tell_nothing_are_refused(client: FlaskClient, p: str, why: str) -> None:
    """None, one group twice, and the same ones."""
    query = CHEATERS.replace("1=.25 2=.75", p)
    reply = get(client, f"{send(client, cheaters()).headers['Location']}{query}")
    assert (reply.status_code, why in html.unescape(reply.text)) == (422, True)


def test_labels_and_fields_of_forms_are_pairs(client: FlaskClient) -> None:
    """No id stands twice on a page, so that each label has its field."""
    address = send(client, race()).headers["Location"]
    for page, kind in product(("tables", "models"), ("", "?kind=list_experiment")):
        ids = [part.split('"')[0] for part in get(client, f"{address}/{page}{kind}").text.split(' id="')[1:]]
        assert len(ids) == len({*ids}), page


def test_refusals_of_these_forms_are_in_the_readers_language(client: FlaskClient) -> None:
    """Whatever people can choose or write wrongly; a sentence that no catalogue has is marked as English."""
    two = CHEATERS.replace("&p=1=.25 2=.75", "")
    asked_wrongly = {
        "Kuk hat eine Stichprobe": (cheaters(), two.replace("cheater_detection", "kuk") + "&p=1=.6 2=.2"),
        "P ist für mehrere Gruppen angegeben": (cheaters(), CHEATERS.replace("&group=arm", "")),
        "nimmt ein p für jede Gruppe": (cheaters(), f"{two}&p=1=.25,.5 2=.75"),
        "p ist eine Wahrscheinlichkeit über 0 und unter 1": (cheaters(), f"{two}&p=1=0 2=.75"),
        "braucht mindestens 2 Gruppen mit eigenem p, und p nennt 1": (cheaters(), f"{two}&p=1=.25"),
        "hat keine Meldungen; jedes p braucht eine Gruppe": (b"y,arm\n1,1\n0,1\n,2\n", CHEATERS),
        "Nur kuk hat mehrere Ziehungen": (cheaters(), f"{CHEATERS}&draws=3"),
        "Nur cheater_detection hat ein Modell": (
            cheaters(), CHEATERS.replace("cheater_detection", "mangat") + "&formula=~ x"),
        "kann kein Prädiktor sein": (race(), f"{LIST}&formula=~ treat"),
        "die Formel nennt nur Prädiktoren": (race(), f"{LIST}&formula=y ~ south"),
        "braucht mindestens 2 Menschen mit einer Anzahl": (b"y,treat\n1,0\n2,1\n1,1\n", LIST),
        "nimmt 3 bis": (people(), "/models?kind=items&questions=a&questions=b&model=2pl"),
        "Beide Gruppen haben dasselbe p (0.5)": (cheaters(), f"{two}&p=1=.5 2=.5"),
        "Die Gruppen haben dasselbe Verhältnis": (
            cheaters(), f"{two.replace('cheater_detection', 'cheater_detection_symmetric')}&p=1=1/4,1/4 2=7/24,1/8"),
        "1 ihrer 2 Werte haben kein p": (cheaters(), f"{two}&p=1=.25 7=.75"),
        "Darf nur Ja und Nein": (b"y,arm\n1,1\n4,2\n", CHEATERS),
        "Eine Anzahl ist größer": (race(), f"{LIST}&items=2"),
        "Braucht zwei Werte, einer davon „7“": (race(), f"{LIST}&treated=7"),
        "Muss eine ganze Zahl von 0 bis 21 sein": (b"y,treat\n1,0\nx,1\n", LIST),
        "hat nur eine Antwort": (b"a,b,c\n0,1,0\n1,1,1\n", ITEMS),
        "hat andere Antworten als Ja und Nein": (b"a,b,c\n0,1,0\n1,0,1\n0,1,2\n", ITEMS),
    }  # fmt: skip

    for said, (data, query) in asked_wrongly.items():
        page = html.unescape(get(client, send(client, data).headers["Location"] + query, "de").text)
        refused = page.partition('id="refused"')[2].partition("</div>")[0]
        assert said in refused, (said, refused)
        assert 'lang="en"' not in refused
