import html
import json
import re
import tempfile
from collections.abc import Iterator
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pyreadstat
import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator import mixture, open_data
from sottovoce.aggregator.analysis.jobs.queue import AnalysisLimits, AnalysisStopped, JobQueue, QueuedJob
from sottovoce.aggregator.i18n.translator import LANGUAGES
from sottovoce.aggregator.intake.request_limits import UPLOAD
from sottovoce.aggregator.studio.file_analysis import page
from sottovoce.aggregator.studio.file_analysis.page import IDLE, UploadedFiles

from tests import commands
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.analysis.data_file.test_shares import COIN, codes
from tests.unit.aggregator.studio.joint_pages import SITE, app, application, cells, client

__all__ = ["app", "client"]

OWN = {"Sec-Fetch-Site": "same-origin"}
ROWS = "yes,first,30\n" * 20 + "yes,last,40\n" * 10 + "no,first,31\n" * 30 + "no,last,22\n" * 40
DATA = f"cheated,year,age\n{ROWS}".encode()
HERE = "/dashboard/analyze"


def get(client: FlaskClient, path: str, language: str = "en") -> Any:
    return client.get(path, base_url=SITE, headers={"Accept-Language": language})


def post(client: FlaskClient, path: str, **fields: str) -> Any:
    return client.post(path, data={"form_token": token(client), **fields}, headers=OWN, base_url=SITE)


def token(client: FlaskClient) -> str:
    found = re.search(r'name="form_token" value="([0-9a-f]+)"', get(client, HERE).text)
    assert found
    return found[1]


def send(client: FlaskClient, data: bytes, name: str = "answers.csv", question: bytes = b"") -> Any:
    """The reply to an upload; its body is made by hand, because the test client would use a temporary file."""
    mark = "0123456789"
    head = f'--{mark}\r\nContent-Disposition: form-data; name="form_token"\r\n\r\n{token(client)}\r\n--{mark}\r\n'
    head += f'Content-Disposition: form-data; name="file"; filename="{name}"\r\nContent-Type: text/csv\r\n\r\n'
    also = f'\r\n--{mark}\r\nContent-Disposition: form-data; name="question"; filename="q.yaml"\r\n\r\n'.encode()
    body = head.encode() + data + (also + question if question else b"") + f"\r\n--{mark}--\r\n".encode()
    return client.post(
        HERE, input_stream=BytesIO(body), content_length=len(body), headers=OWN, base_url=SITE,
        content_type=f"multipart/form-data; boundary={mark}",
    )  # fmt: skip


def uploaded(client: FlaskClient, data: bytes = DATA, channel: str = "coin_flip") -> str:
    address: str = send(client, data).headers["Location"]
    assert post(client, address, **{"channel.cheated": channel}).status_code == 303
    return address


def test_upload_has_shares_tables_and_models(client: FlaskClient) -> None:
    """30 of 100 report a yes through the coin flip: 10 %."""
    address = uploaded(client)

    shown = get(client, address)
    assert shown.status_code == 200
    assert "10.0%" in shown.text.replace(" ", "").replace("\u00a0", "")
    tables = get(client, f"{address}/tables?kind=crosstab&rows=cheated&columns=year")
    assert tables.status_code == 200
    assert 'class="error"' not in tables.text
    assert "first" in tables.text
    models = get(client, f"{address}/models?kind=regression&outcome=cheated&on=year&model=linear")
    assert (models.status_code, "year = last" in models.text) == (200, True)
    file = get(client, f"{address}/tables/answer.json?kind=crosstab&rows=cheated&columns=year")
    assert file.json["format"] == "sottovoce-crosstab/1"


def test_those_who_saw_the_button_are_counted(client: FlaskClient) -> None:
    rows = "yes,binary_rr a=3/4 b=1/4,answered\nno,binary_rr a=3/4 b=1/4,answered\n,,closed\n"
    shown = get(client, uploaded(client, b"cheated,cheated_channel,cheated_state\n" + rows.encode(), ""))
    assert "cheated: 2 answered of 3 who saw the button." in shown.text


def test_codes_of_a_link_are_read_with_the_file_of_their_question(client: FlaskClient) -> None:
    link = {**COIN, "then": "https://docs.google.com/forms/d/x/viewform", "code": "entry.1"}
    cells = codes(link, [["yes"]] * 30 + [["no"]] * 30)
    data = "code,year\n" + "".join(f"{cell},{place % 2}\n" for place, cell in enumerate(cells))
    address = send(client, data.encode(), question=json.dumps(link).encode()).headers["Location"]

    shown = get(client, address)
    assert (shown.status_code, ">cheated<" in shown.text, ">code<" in shown.text) == (200, True, False)
    assert get(client, f"{address}/tables?kind=crosstab&rows=cheated&columns=year").status_code == 200
    edited = send(client, data.replace(cells[0], f"{cells[0]}Q").encode(), question=json.dumps(link).encode())
    assert "line 2" in get(client, edited.headers["Location"]).text


def test_file_that_is_no_question_asked_by_a_link_is_refused(client: FlaskClient) -> None:
    refused = send(client, DATA, question=json.dumps(COIN).encode())
    assert (refused.status_code, "must be an address such as" in refused.text) == (422, True)


def test_nothing_of_the_upload_reaches_a_disk(
    app: Flask, client: FlaskClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No temporary file can be made, and none is missed; the data folder has none of its bytes."""
    get(client, HERE)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "no folder"))
    marker = b"a marker of this very file"
    data = DATA + (b"no," + marker + b",50\n") * 20_000
    assert len(data) > 500 * 1024

    address = uploaded(client, data)
    assert get(client, address).status_code == 200
    assert get(client, f"{address}/tables?kind=crosstab&rows=cheated&columns=year").status_code == 200
    folder = app.extensions["settings"].data
    assert [path for path in folder.rglob("*") if path.is_file() and marker in path.read_bytes()] == []


def _by_pandas(kind: str, path: Path) -> None:
    table = pandas.read_csv(BytesIO(DATA))
    if kind == "parquet":
        duckdb.from_df(table).write_parquet(str(path))
    else:
        (pyreadstat.write_sav if kind == "sav" else pyreadstat.write_dta)(table, str(path))


@pytest.mark.parametrize("kind", ["parquet", "sav", "dta"])
def test_files_of_other_programs_are_read_from_memory(
    client: FlaskClient, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although their libraries open files by name, no temporary file is made."""
    _by_pandas(kind, tmp_path / "data")
    get(client, HERE)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "no folder"))
    address = send(client, (tmp_path / "data").read_bytes(), f"answers.{kind}").headers["Location"]
    assert post(client, address, **{"channel.cheated": "coin_flip"}).status_code == 303
    assert "10.0%" in get(client, address).text.replace(" ", "").replace("\u00a0", "")

    address = send(client, b"something else", f"answers.{kind}").headers["Location"]
    shown = get(client, address)
    assert (shown.status_code, f"answers.{kind} cannot be read as" in shown.text) == (422, True)


def test_channel_beside_the_column_is_recognized(client: FlaskClient) -> None:
    data = b"cheated,cheated_channel,cheated_once\n" + b"yes,coin_flip,1\n" * 30 + b"no,coin_flip,1\n" * 70
    address = send(client, data).headers["Location"]
    shown = get(client, address).text
    assert "Recognized" in shown
    assert "10.0" in shown
    assert "cheated_once" not in shown


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("formula=cheated~I(year.to_csv('f'))", "column"),
        ("formula=cheated~__import__('os')", "column"),
        ("formula=cheated~(a%2Bb%2Bc%2Bd%2Be%2Bf%2Bg%2Bh%2Bi%2Bj)^10", "column"),
        (f"formula=cheated~{'*'.join('abcdefghijklmnop')}", "terms"),
        ("formula=cheated~height", "there are: cheated, year, age"),
        ("outcome=cheated&on=year&where=year+%3D+none", "year"),
        ("outcome=cheated&on=year&where=year+%3D+first+and+year+%3D+last", "subset"),
    ],
)
def test_mistake_in_a_model_of_a_file_is_said(client: FlaskClient, asked: str, message: str) -> None:
    """A formula that asks for code or for too much, a column that is not there, a subset without people."""
    shown = get(client, f"{uploaded(client)}/models?kind=regression&{asked}")
    refused = shown.text.partition('id="refused"')[2][:900]
    assert (shown.status_code, message in refused) == (422, True), refused


@pytest.mark.parametrize(
    ("data", "channel", "message"),
    [
        (DATA, "coin", "channel: is no channel"),
        (DATA, "binary_rr a=1.5 b=0.2", "a must be between 0 and 1"),
        (DATA, "binary_rr 1/4 1/4", "channel: "),
        (DATA, "warner 1/2", "channel: "),
        (DATA, "kary_rr 3 levels=no,perhaps", "line 2, column &#39;cheated&#39;"),
        (b"cheated,cheated\n1,2\n", "coin_flip", "columns 1 and 2 are both named"),
        (b"", "coin_flip", "the file is empty"),
        (b"cheated\nyes\nn\xe9\n", "coin_flip", "line 3, column &#39;cheated&#39;: is not UTF-8"),
    ],
)
def test_mistake_is_said_with_its_place(client: FlaskClient, data: bytes, channel: str, message: str) -> None:
    shown = get(client, uploaded(client, data, channel))
    assert shown.status_code == 422
    assert message in shown.text
    assert "Traceback" not in shown.text


WRONG: list[tuple[bytes, str]] = [
    *((DATA, channel) for channel in (
        "kuk 25", "no_channel", "warner 0.7 0.8", "warner 2", "warner 1/2", "warner x", "warner truth=1/3 truth=1/3",
        "coin_flip levels=a,a", "coin_flip levels=a,b,c", "coin_flip levels=a,b", "forced_response yes=1/2 no=1/2",
        "forced_response truth=1/2 yes=1/3 no=1/3", "unrelated_question 2/3 1/4 se=1/5", "crosswise 1/4", "kary_rr 3",
        "kary_rr 3 k=4 levels=a,b", "kary_rr 1/2 k=2", "number levels=a,b", "number", "public levels=never",
        "laplace epsilon=1", "kary_rr 3 levels=never,often", "coin_flip yes",
    )),
    (b"cheated,cheated\nyes,no\n", ""),
    (b"cheated,\nyes,no\n", ""),
    (b"cheated,year\n", ""),
    (b"cheated,year\n,\n,\n", ""),
    (b"cheated,year\nyes,a,b\n", ""),
    (b"cheated,cheated_channel\nyes,coin_flip\nno,\n", ""),
    (b"cheated,cheated_channel\nyes,coin_flip\nno,public\n", ""),
    (b"cheated,cheated_channel\nyes,coin_flip\nno,coin_flip levels=no,perhaps\n", ""),
    (b"how,cheated\ncoin_flip,yes\ncoin_flip,no\n", ""),
    (b"year,cheated\nfirst,yes\nlast,\xff\n", ""),
]  # fmt: skip


def test_mistakes_in_a_file_are_said_in_the_readers_language(client: FlaskClient) -> None:
    """Whatever is wrong with a channel or a table: no sentence is as in English, nor are two languages mixed."""
    same = []
    for data, channel in WRONG:
        address = send(client, data).headers["Location"]
        post(client, address, **{"channel.cheated": channel} if channel else {})
        told = {}
        for language in LANGUAGES:
            reply = get(client, address, language)
            assert reply.status_code == 422, (data, channel)
            text = html.unescape(reply.text.partition('<div class="error"')[2].partition("</div>")[0])
            told[language] = re.sub("<[^>]+>", " ", text).split(":", 2)[-1].strip()
        english = told.pop("en")
        same += [(language, english) for language, other in told.items() if english in other]
    assert same == []


def test_upload_that_cannot_be_taken_is_refused(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "No file was chosen" in send(client, b"", "").text
    assert "cannot be read here" in send(client, b"x", "data.docx").text
    monkeypatch.setattr("sottovoce.aggregator.studio.file_analysis.page.MOST_BYTES", 10)
    full = send(client, DATA + b"no,last,22\n")
    assert (full.status_code, "Files of other people fill the memory" in full.text) == (503, True)
    monkeypatch.setattr(page, "UPLOAD_BYTES", 10)
    assert send(client, DATA).status_code == 413
    sent = client.post(HERE, headers=OWN, base_url=SITE, environ_overrides={"CONTENT_LENGTH": str(UPLOAD + 1)})
    assert sent.status_code == 413


def test_file_is_its_sender_s_alone_and_can_be_deleted(client: FlaskClient, tmp_path: Path) -> None:
    address = uploaded(client)
    other: Iterator[Flask] = application(tmp_path)
    elsewhere = log_in(next(other))[0]
    for reply in (get(elsewhere, address), get(elsewhere, f"{address}/tables"), post(elsewhere, address)):
        assert (reply.status_code, "Upload the file again" in reply.text) == (410, True)
    next(other, None)

    assert post(client, address, delete="1").headers["Location"] == HERE
    assert get(client, address).status_code == 410


def test_page_speaks_the_reader_s_language(client: FlaskClient) -> None:
    shown = get(client, uploaded(client), "de").text
    assert "Wie jede Spalte randomisiert wurde" in shown
    assert '<html lang="de"' in shown


def test_files_are_kept_for_a_while_and_for_their_account() -> None:
    clock, dropped = [0.0], []
    files = UploadedFiles(dropped.append, lambda: clock[0])
    id = files.add("ann", "a.csv", b"x")
    assert id
    assert files.find("ben", id) is None
    assert not files.set_channels("ben", id, {})
    clock[0] = IDLE - 1
    assert files.find("ann", id)
    clock[0] += IDLE - 1
    assert files.set_channels("ann", id, {"a": "coin_flip"})
    clock[0] += IDLE
    assert files.find("ann", id) is None
    assert dropped == [id]


def test_own_files_make_room_and_the_same_one_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty uploads of one file are one; of others those go first that were not used for longest."""
    monkeypatch.setattr(page, "MOST_BYTES", 10)
    clock, dropped = [0.0], []
    files = UploadedFiles(dropped.append, lambda: clock[0])
    first = files.add("ann", "a.csv", b"1234")
    assert first
    assert files.set_channels("ann", first, {"a": "coin_flip"})
    assert {files.add("ann", "a.csv", b"1234") for _ in range(20)} == {first}
    clock[0] = 1
    second = files.add("ann", "b.csv", b"1234")
    clock[0] = 2
    assert files.find("ann", first)
    third = files.add("ann", "a.csv", b"123456")
    assert (dropped, files.find("ann", str(second))) == ([second], None)
    assert files.find("ann", str(third))
    assert files.add("ben", "b.csv", b"1") is None
    assert len(dropped) == 1


def test_analysis_whose_file_gave_way_says_so(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not that someone cancelled it."""
    address = uploaded(client, DATA + b"no,last,21\n")

    def give_way(_queue: JobQueue, job: QueuedJob, *_: object) -> Any:
        post(client, address, delete="1")
        raise AnalysisStopped(job.id, "cancelled", AnalysisLimits(60, 512))

    monkeypatch.setattr(JobQueue, "_compute", give_way)
    shown = get(client, address)
    assert (shown.status_code, "a newer file of yours took its place" in shown.text) == (410, True)


def test_stopped_analysis_is_said_and_tried_again(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    address = uploaded(client)
    compute = JobQueue._compute

    def stop(_queue: JobQueue, job: QueuedJob, *_: object) -> Any:
        raise AnalysisStopped(job.id, "memory", AnalysisLimits(60, 512))

    monkeypatch.setattr(JobQueue, "_compute", stop)
    shown = get(client, address)
    assert (shown.status_code, "more than 512 MiB" in shown.text) == (422, True)
    monkeypatch.setattr(JobQueue, "_compute", compute)
    assert get(client, address).status_code == 422
    assert post(client, address, **{"channel.cheated": "coin_flip"}).status_code == 303
    assert "10.0" in get(client, address).text


COUNTS = {"0": (8, 132, 222, 227, 0), "1": (19, 123, 229, 219, 34)}
"""People by count of items, without and with the sensitive one: ``race`` in the R package list."""

YES, N = (200, 330), (500, 500)
CELLS = {"000": 40, "001": 10, "010": 12, "011": 15, "100": 9, "101": 14, "110": 11, "111": 45}
"""People by answers to three items."""


def race() -> bytes:
    rows = [(count, arm) for arm, counts in COUNTS.items() for count, n in enumerate(counts) for _ in range(n)]
    return "\n".join(["y,treat,south", *(f"{y},{arm},{at % 2}" for at, (y, arm) in enumerate(rows))]).encode()


def cheaters() -> bytes:
    """Two groups that were told to say yes with chance 1/4 and 3/4."""
    rows = [f"{int(at < YES[arm])},{arm + 1},{at % 3 % 2}" for arm in (0, 1) for at in range(N[arm])]
    return "\n".join(["y,arm,x", *rows]).encode()


def people(long: bool = False) -> bytes:
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
    data, query, _ = FORMS[form]
    return get(
        client, send(client, data).headers["Location"] + query.replace("?", f"/{file}?" if file else "?"), language
    )


@pytest.mark.parametrize("form", FORMS)
def test_each_form_shows_its_result(client: FlaskClient, form: str) -> None:
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


def test_weights_of_a_design_are_those_of_python_and_of_the_terminal(client: FlaskClient, tmp_path: Path) -> None:
    """Their column is chosen in the form, and has a field of its own name there."""
    head, *rows = cheaters().decode().splitlines()
    data = "\n".join([f"{head},w", *(f"{row},{1 + at % 3}" for at, row in enumerate(rows))]).encode()
    (tmp_path / "answers.csv").write_bytes(data)
    own = "y", "cheater_detection", {"1": 0.25, "2": 0.75}, "arm"
    expected = dict(open_data(tmp_path / "answers.csv").mixture(*own, weights="w").document)
    words = "results mixture --response y --group arm --design cheater_detection --p 1=.25 --p 2=.75 --weights w --json"
    page = f"{send(client, data).headers['Location']}{CHEATERS}&weights=w"

    assert expected["deff"] == pytest.approx(7 / 6, abs=1e-3)
    assert json.loads(commands.run(*words.split(), tmp_path / "answers.csv").stdout)["shares"] == expected["shares"]
    assert get(client, page.replace("?", "/answer.json?")).json["shares"] == expected["shares"]
    assert '<select id="design-weights" name="weights"' in get(client, page).text


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
    data, query, _ = FORMS[form]
    reply = get(client, f"{send(client, data).headers['Location']}{query}{more}")
    assert (reply.status_code, why in html.unescape(reply.text)) == (422 if why else 200, True)


@pytest.mark.parametrize(
    ("p", "why"), [("", "is missing"), ("1=.25 1=.75", "names a group twice"), ("1=.5 2=.5", "same p")]
)
def test_odds_that_tell_nothing_are_refused(client: FlaskClient, p: str, why: str) -> None:
    query = CHEATERS.replace("1=.25 2=.75", p)
    reply = get(client, f"{send(client, cheaters()).headers['Location']}{query}")
    assert (reply.status_code, why in html.unescape(reply.text)) == (422, True)


def test_labels_and_fields_of_forms_are_pairs(client: FlaskClient) -> None:
    """No id stands twice on a page, so that each label has its field."""
    address = send(client, race()).headers["Location"]
    for text, kind in product(("tables", "models"), ("", "?kind=list_experiment")):
        ids = [part.split('"')[0] for part in get(client, f"{address}/{text}{kind}").text.split(' id="')[1:]]
        assert len(ids) == len({*ids}), text


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
        "Beide Gruppen haben dasselbe p (0,5)": (cheaters(), f"{two}&p=1=.5 2=.5"),
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
