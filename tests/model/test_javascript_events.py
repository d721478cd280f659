"""All that happens to the browser's client, what it remembers and what passes its worker: dishonest ones are seen."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sottovoce.audit.check import FAILED, NOT_DONE, PASSED, Check
from sottovoce.audit.run import laid_out
from sottovoce.client import page

from tests.model.device_events import REREAD
from tests.model.device_state import Happened, State, Way
from tests.model.device_world import ANSWERED, REFUSED, events_of
from tests.model.javascript_events import BrowserDevice, browser_device, check_javascript_events, remembering_scripts
from tests.model.small_surveys import Scenario, scenarios, signed_scenario
from tests.page_files import page_files
from tests.planted.scripts import Change, plant

ORDINARY, RICH = scenarios()
SIGNED = signed_scenario()

TWICE = "two different reports of one wave leave the device"
FREE = "a report leaves the device that is not charged"
OTHERS = "one person is asked two different sets of questions in one wave"
SILENT = "no report leaves the device after an answer"
BROKEN = "the scripts do not run under node as they should"


OVERWRITES: list[Change] = [
    ("device/ledger.js", "if (earlier !== undefined) return earlier;\n      if (await personalBeside",
     "if (await personalBeside"),
    ("device/ledger.js", "store.add(entry, key)", "store.put(entry, key)"),
]  # fmt: skip
DRAWS_AGAIN: list[Change] = [
    ("device/answer_path.js", "if ((await this.#respondent.drawn()) !== null) return;", ""),
    *OVERWRITES,
]
SENDS_FIRST: list[Change] = [
    ("device/answer_path.js", "await ledger.record(key, entry,",
     "await this.#respondent.transport.submit(key[1], body, key[3]);\n    await ledger.record(key, entry,"),
]  # fmt: skip
REFUSAL_FREES: list[Change] = [
    ("device/ledger.js", "await settled(store.put({ ...entry, refused: reason }, key))",
     "await settled(store.delete(key))"),
]  # fmt: skip
FORGETTING_FREES: list[Change] = [
    ("device/answer_path.js", 'await ledger.end(key, "forgotten");',
     'await ledger.end(key, "forgotten");\n    await ledger.free(key);'),
    ("device/ledger.js", "  /** Wipe the report and all its copies",
     '  async free(key) {\n    await this.#within("readwrite", (store) => settled(store.delete(key)));\n  }\n\n'
     "  /** Wipe the report and all its copies"),
]  # fmt: skip
NOT_CHARGED: list[Change] = [("device/answer_path.js", "epsilon: survey.epsilonOfWave,", "epsilon: 0,")]
OTHER_LINK_DRAWS: list[Change] = [("device/answer_path.js", 'key[3] !== "" && !isSomebodyElse', "false")]
ASKS_OTHERS: list[Change] = [
    ("device/ledger.js", "{ drawn: draw(), epsilon: 0 }))).drawn;", "{ drawn: draw(), epsilon: 0 }))) && draw();")
]
SENDS_NOTHING: list[Change] = [("device/answer_path.js", "return deliver(", "return; deliver(")]

READ_AGAIN_IS_FREE: list[Change] = [
    (
        "survey/parse_survey.js",
        "return parseSurvey(document, await sha256(bytes));",
        "const survey = parseSurvey(document, await sha256(bytes));\n  const { read = new Set() } = parseSurvey;\n"
        '  if (read.has(survey.digest)) Object.defineProperty(survey, "epsilonOfWave", { value: 0 });\n'
        "  parseSurvey.read = read.add(survey.digest);\n  return survey;",
    )
]
READ_AGAIN_IS_MARKED: list[Change] = [
    (
        "survey/parse_survey.js",
        "const document = loadCanonical(bytes);",
        "const document = loadCanonical(bytes);\n  globalThis.timesRead = (globalThis.timesRead ?? 0) + 1;",
    ),
    (
        "device/answer_path.js",
        "const drawn = { digest",
        'const drawn = { marked: globalThis.timesRead > 1 ? "x" : "", digest',
    ),
]

DRAWS_WIDELY: list[Change] = [("device/randomize.js", "return draws.pick(", "draws.below(256);\n  return draws.pick(")]
DRAWS_ENDLESSLY: list[Change] = [
    ("device/randomize.js", "return draws.pick(",
     "while (draws.below(2) === 0);\n  return draws.pick("),
]  # fmt: skip

PLANTS = {
    "draws again": (DRAWS_AGAIN, ORDINARY, TWICE),
    "sends first": (SENDS_FIRST, ORDINARY, TWICE),
    "second tab": (OVERWRITES, ORDINARY, TWICE),
    "refusal frees": (REFUSAL_FREES, ORDINARY, TWICE),
    "forgetting frees": (FORGETTING_FREES, ORDINARY, FREE),
    "not charged": (NOT_CHARGED, ORDINARY, FREE),
    "other link draws": (OTHER_LINK_DRAWS, RICH, TWICE),
    "asks others": (ASKS_OTHERS, RICH, OTHERS),
    "sends nothing": (SENDS_NOTHING, ORDINARY, SILENT),
    "read again is free": (READ_AGAIN_IS_FREE, ORDINARY, FREE),
    "read again is marked": (READ_AGAIN_IS_MARKED, ORDINARY, REREAD),
    "draws widely": (DRAWS_WIDELY, ORDINARY, BROKEN),
    "draws endlessly": (DRAWS_ENDLESSLY, ORDINARY, BROKEN),
}


def check(scenario: Scenario, length: int) -> Check:
    [found] = check_javascript_events(page.opened(), [scenario], {scenario.name: length})
    return found


@pytest.fixture(name="browser", scope="module")
def _browser() -> Iterator[BrowserDevice]:
    with browser_device(shutil.which("node") or "", page.opened(), RICH) as device:
        yield device


def once(browser: BrowserDevice, event: str, state: State = State()) -> Happened:  # noqa: B008 - frozen
    """What an event does, along one way of the coins."""
    return along(browser, event, state).happened


def along(browser: BrowserDevice, event: str, state: State = State()) -> Way:  # noqa: B008 - frozen
    """The same, with all that was seen meanwhile."""
    return next(browser.ways(state, event, 1))[0]


def sent(happened: Happened) -> list[bytes]:
    return [body for kind, _, body in happened.wire if kind == "sent"]


@pytest.mark.parametrize(
    ("scenario", "length"), [(ORDINARY, 2), (RICH, 1), (SIGNED, 1)], ids=["ordinary", "rich", "signed"]
)
def test_honest_client_passes(scenario: Scenario, length: int) -> None:
    """No course is wrong, and there are as many as events make."""
    found = check(scenario, length)

    assert (found.part, found.outcome, found.message) == ("javascript", PASSED, "")
    assert f"courses of up to {length} events" in found.scope


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenario", "length"), [(ORDINARY, 4), (RICH, 4), (SIGNED, 3)], ids=["ordinary", "rich", "signed"]
)
def test_honest_client_passes_for_long(scenario: Scenario, length: int) -> None:
    """One event more than an audit follows."""
    assert check(scenario, length).message == ""


@pytest.mark.parametrize("event", events_of(RICH))
def test_each_event_really_happens(event: str, browser: BrowserDevice) -> None:
    """After an answer each one goes its own way, and sends the report that there is; but for waves and other people."""
    answered = once(browser, ANSWERED)
    found = once(browser, event, answered.state)
    beside = {"answered the last wave", REFUSED}

    assert len(sent(answered)) == 1
    assert set(sent(found)) <= set(sent(answered)) or event in beside
    assert sent(found) or event in {"opened again", "withdrawn", "forgotten", REFUSED}
    assert found.state != answered.state or event not in {"withdrawn", "forgotten", *beside}


def test_events_of_their_own_begin_where_nothing_was_drawn(browser: BrowserDevice) -> None:
    """Whoever answers in two tabs, after a refusal, offline or late sends one report."""
    for event in {*events_of(RICH)} - {"opened again", "withdrawn", "forgotten"}:
        assert len(set(sent(once(browser, event)))) == 1, event


def test_kills_stop_before_every_step(browser: BrowserDevice) -> None:
    """Before the first write nothing lies there and nothing was sent; each commit and each reply shows in a kill."""
    way = along(browser, ANSWERED)
    first, *_, last = way.kills

    assert len(way.kills) == 8
    assert all(end.killed for end in way.kills)
    assert len({(end.state, end.wire) for end in way.kills}) >= 5
    assert (first.state.files, first.wire) == ((), ())
    assert (last.state, last.wire) == (way.happened.state, way.happened.wire)


def test_answers_are_seen_to_be_looked_at(browser: BrowserDevice) -> None:
    """Where a report is drawn, and only there; the send time is looked for whenever something is answered."""
    first = along(browser, ANSWERED)
    again, opened = (along(browser, event, first.happened.state) for event in (ANSWERED, "opened again"))

    assert [(way.looked, way.timed) for way in (first, again, opened)] == [(True, True), (False, True), (False, False)]


def test_charge_is_what_the_ledger_says(browser: BrowserDevice) -> None:
    assert browser.charged(State()) == 0
    assert browser.charged(once(browser, ANSWERED).state) == pytest.approx(RICH.epsilon, rel=1e-12)


def test_without_node_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)

    assert check(ORDINARY, 1).outcome == NOT_DONE


def test_scripts_that_do_not_run_are_no_pass() -> None:
    """Nor are those that can be no client."""
    [found] = check_javascript_events({"respondent.js": "throw 1"}, [ORDINARY], {ORDINARY.name: 1})

    assert (found.outcome, found.message) == (FAILED, BROKEN)


@pytest.mark.parametrize("name", PLANTS)
def test_dishonest_client_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    changes, scenario, told = PLANTS[name]
    plant(monkeypatch, changes)
    found = check(scenario, 2 if scenario is ORDINARY else 1)

    assert found.outcome == FAILED
    assert told in found.message


SCRIPT = """
import {{ remembering }} from {module};
class Made {{ inner = {{ list: [1] }}; }}
let reads = 0;
const read = remembering(async () => ((reads += 1), {value}));
const [one, again] = [await read(new Uint8Array([1, 2])), await read(new Uint8Array([1, 2]).buffer)];
await read(new Uint8Array([2, 1]));
const isKept = (work) => {{
  try {{
    work();
  }} catch (error) {{
    return error instanceof TypeError;
  }}
  return false;
}};
const kept = [() => (one.more = 1), () => one.inner.list.push(2), () => (one.inner.list = [])].every(isKept);
console.log(JSON.stringify([reads, one === again, kept]));
"""


@pytest.mark.parametrize("value", ["{ inner: { list: [1] } }", "new Made()", "{ inner: { list: [1, null, 'a'] } }"])
def test_data_is_read_once_and_never_changes(value: str) -> None:
    """The same bytes, in whichever array, give the very same object; other bytes another one."""
    assert remembered(value) == [2, True, True]


@pytest.mark.parametrize(
    "inner",
    ["new Map()", "() => 1", "new Uint8Array(1)", "new Date(0)", "new Proxy({}, {})", "{ get now() { return 1; } }"],
)
def test_what_could_change_is_read_each_time(inner: str) -> None:
    """A life could leave something in it for the next one; it stays as it was given."""
    assert remembered(f"{{ inner: {{ list: [{inner}] }} }}") == [3, False, False]


def remembered(value: str) -> list[object]:
    """How often was read; whether the same bytes gave the same object; whether nothing in it could be changed."""
    module = Path(__file__).with_name("javascript_remembered.mjs")
    script = SCRIPT.format(module=json.dumps(f"file://{module}"), value=value)
    command = [shutil.which("node") or "node", "--input-type=module", "--eval", script]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return json.loads(run.stdout)


def test_only_the_reading_of_surveys_is_changed() -> None:
    """Of all scripts one line is another, in the script that has the way from a link to a survey."""
    honest = page.opened()
    given = remembering_scripts(honest)
    changed = [name for name in honest if honest[name] != given[name]]

    assert changed == ["respondent.js"]
    assert len(set(honest["respondent.js"].split("\n")) - set(given["respondent.js"].split("\n"))) == 1


OWN = page_files()["sw.js"].body.decode()
DRIVER = """
import { readFileSync } from "node:fs";
import { isServiceable } from "./javascript_worker.mjs";
const found = [];
for (const text of JSON.parse(readFileSync(0, "utf-8"))) found.push(await isServiceable(text));
console.log(JSON.stringify(found));
"""
GET = 'if (event.request.method === "GET") event.respondWith(serve(event.request));'
FETCH = "await fetch(request).catch(() => null)"
DISHONEST = {
    "sends reports itself": (GET, "event.respondWith(fetch(event.request));"),
    "asks for more": (GET, f"{GET} fetch('/more');"),
    "asks with more": (FETCH, 'await fetch(request, { headers: { "X-Name": "1" } }).catch(() => null)'),
    "asks for something else": (FETCH, "await fetch(`${request.url}?1`).catch(() => null)"),
    "asks twice": (FETCH, f"{FETCH} ?? {FETCH}"),
    "keeps what passes": (FETCH, '(await (await caches.open("x")).put(request, 1), await fetch(request))'),
    "listens to more": (GET, f'{GET} }});\naddEventListener("sync", () => {{'),
    "asks as soon as it begins": ('addEventListener("install"', 'fetch("/begun");\naddEventListener("install"'),
    "draws": (GET, f"crypto.randomUUID(); {GET}"),
}


@pytest.fixture(scope="module")
def found() -> dict[str, bool]:
    node = shutil.which("node")
    assert node is not None
    for right, _ in DISHONEST.values():
        assert OWN.count(right) == 1
    scripts = {"own": OWN, **{name: OWN.replace(*change) for name, change in DISHONEST.items()}}
    worker = Path(__file__).with_name("javascript_worker.mjs").read_text(encoding="utf-8")
    with laid_out(node, {"driver.mjs": DRIVER, "javascript_worker.mjs": worker}, "driver.mjs") as command:
        ran = subprocess.run(
            command, input=json.dumps([*scripts.values()]), capture_output=True, text=True, timeout=60, check=True
        )
    return dict(zip(scripts, json.loads(ran.stdout), strict=True))


def test_own_service_worker_is_let_through(found: dict[str, bool]) -> None:
    assert found["own"] is True


@pytest.mark.parametrize("name", DISHONEST)
def test_other_service_worker_is_not(found: dict[str, bool], name: str) -> None:
    assert found[name] is False
