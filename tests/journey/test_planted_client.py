"""Faults that a client might have, each planted on purpose: the check that passes here must fail there."""

import json
import random
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import requests
from sottovoce.client import respondent
from sottovoce.client.bundle import modules
from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import Key
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.client.respondent import Respondent
from sottovoce.client.transport import Transport
from sottovoce.shared.errors import SurveyError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.report import dump_report

from tests import wire
from tests.listener import cut, honest, listening
from tests.surveys import document, survey
from tests.unit.client.test_web_sources import BITWISE, FORBIDDEN, HISTORY, code_of
from tests.unit.test_imports import ROOT, module_of, violations
from tests.vectors.test_javascript import write_sources

COIN = survey(questions=document()["questions"][:1])
NO, YES = TRUTHS = [{"cheated": "no"}, {"cheated": "yes"}]
Patch = Callable[[pytest.MonkeyPatch], None]
Sources = dict[str, str]


def check_form() -> None:
    """Nothing but reported values and ids differs between people."""
    wire.check_form(COIN, wire.watch(COIN, TRUTHS, 20))


def check_ids() -> None:
    wire.check_ids(wire.watch(COIN, TRUTHS, 1000))


def check_frequencies(count: int = 1000) -> None:
    """Three of four, by exact tests."""
    wire.check_frequencies(COIN, TRUTHS, wire.watch(COIN, TRUTHS, count))


def check_times(count: int = 300) -> None:
    wire.check_times(wire.watch(COIN, TRUTHS, count))


def check_generator() -> None:
    """What seeds Python's own generator does not repeat a report."""
    ids = set()
    for _ in range(2):
        random.seed(7)
        ids.add(Draws().identity())
    assert len(ids) == 2


def check_draw_once(folder: Path) -> None:
    """Twenty attempts of one person, through failures, retries and restarts, with either answer: one value of bytes."""
    taken = honest(COIN)
    with listening(taken, [cut, taken, cut, cut, taken, cut, cut, cut]) as server:
        for attempt in range(20):
            transport = Transport(server.url, sleep=lambda _: None)
            Respondent(COIN, transport, FileLedger(folder)).answer(TRUTHS[attempt % 2])
    assert len(server.bodies) >= 20
    assert len(set(server.bodies)) == 1


def check_survey() -> None:
    """A weaker survey is refused by its digest where the link has one, and by its epsilon where it has none."""
    weak = {"name": "binary_rr", "a": "99/100", "b": "1/100"}
    weaker = parse_survey(_with_mechanism(weak))
    slightly = parse_survey(_with_mechanism({"name": "binary_rr", "a": "4/5", "b": "1/5"}))
    for served, fragment in ((weaker, ""), (weaker, COIN.digest[:32]), (slightly, COIN.digest[:32])):
        with listening(honest(served)) as server:
            with pytest.raises(SurveyError):
                Respondent.connect(f"{server.url}/s/exam{'#d=' * bool(fragment)}{fragment}").answer(YES)
            assert server.bodies == []


def _with_mechanism(mechanism: dict[str, str]) -> dict[str, Any]:
    return document(questions=[{**document()["questions"][0], "mechanism": mechanism}])


CHECKS = [check_form, check_ids, check_frequencies, check_times, check_generator, check_survey]

truth_now = 0
"""What a client must not do: remember the truth where everybody can read it."""


def _knowing(patch: pytest.MonkeyPatch) -> None:
    original = respondent.encode

    def encode(asked: Any, answers: Any, places: Any) -> Any:
        global truth_now  # noqa: PLW0603 - that is the fault
        values = original(asked, answers, places)
        truth_now = int(values[0])  # type: ignore[arg-type]
        return values

    patch.setattr(respondent, "encode", encode)


def _dumping(patch: pytest.MonkeyPatch, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Plant other bytes of the same length."""
    _knowing(patch)

    def dump(report: Any, asked: Any) -> bytes:
        right = dump_report(report, asked)
        wrong = json.dumps(change(json.loads(right)), separators=(",", ":")).encode()
        return wrong.ljust(len(right))

    patch.setattr(respondent, "dump_report", dump)
    patch.setattr("sottovoce.client.delivery._same", lambda *_: True)
    patch.setattr("sottovoce.client.delivery.parse_report", _lenient)
    patch.setattr("tests.listener.parse_report", _lenient)


def _lenient(body: bytes) -> Any:
    known = json.loads(body)
    fields = ("survey", "digest", "wave", "report_id", "values")
    return respondent.Report(*(known[field] for field in fields))


def biased_coin(patch: pytest.MonkeyPatch) -> None:
    """Six of seven in the place of three of four."""

    def biased(_mechanism: Any, value: int, draws: Draws) -> int:
        return value if draws.below(7) else 1 - value

    patch.setitem(RANDOMIZERS, "binary_rr", biased)


def telling_order(patch: pytest.MonkeyPatch) -> None:
    """Who means yes sends the keys in another order."""
    _dumping(patch, lambda report: dict(sorted(report.items())) if truth_now else report)


def extra_field(patch: pytest.MonkeyPatch) -> None:
    _dumping(patch, lambda report: {**report, "v": 1})


def telling_length(patch: pytest.MonkeyPatch) -> None:
    _knowing(patch)
    patch.setattr(respondent, "dump_report", lambda report, asked: dump_report(report, asked) + b" " * truth_now)


def telling_header(patch: pytest.MonkeyPatch) -> None:
    """Who means yes has another language."""
    _knowing(patch)
    original = requests.Session.request

    def request(self: Any, *words: Any, headers: dict[str, str], **options: Any) -> Any:
        return original(self, *words, headers={**headers, "Accept-Language": ("de", "en")[truth_now]}, **options)

    patch.setattr(requests.Session, "request", request)


def extra_request(patch: pytest.MonkeyPatch) -> None:
    _knowing(patch)
    original = Transport.submit

    def submit(self: Transport, name: str, *words: Any) -> Any:
        if truth_now:
            self.fetch_survey(name)
        return original(self, name, *words)

    patch.setattr(Transport, "submit", submit)


def leaking_id(patch: pytest.MonkeyPatch) -> None:
    """One id of four ends in the truth."""
    original = respondent.randomize

    def randomize(asked: Any, values: Any, draws: Draws, *more: Any, **named: Any) -> Any:
        report = original(asked, values, draws, *more, **named)
        leaks = draws.below(4) == 0
        return replace(report, report_id=f"{report.report_id[:-1]}{values[0]}") if leaks else report

    patch.setattr(respondent, "randomize", randomize)


def slow_yes(patch: pytest.MonkeyPatch) -> None:
    original = respondent.encode

    def encode(asked: Any, answers: Any, places: Any) -> Any:
        values = original(asked, answers, places)
        if values[0]:
            time.sleep(0.002)
        return values

    patch.setattr(respondent, "encode", encode)


def weak_generator(patch: pytest.MonkeyPatch) -> None:
    """Bytes that whoever has seen some of them can predict."""
    patch.setattr(Draws.__init__, "__defaults__", (random.randbytes,))


def no_memory(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(FileLedger, "record", _overwrite)
    patch.setattr(Respondent, "drawn", False)


def _overwrite(self: FileLedger, key: Key, entry: Any, text: bytes = b"", only_one: bool = False) -> Any:
    from sottovoce.client.ledger_entry import name_of

    self.erase(name_of(key))
    return ORIGINAL_RECORD(self, key, entry, text, only_one)


ORIGINAL_RECORD = FileLedger.record


def new_draw_for_every_try(patch: pytest.MonkeyPatch) -> None:
    original = Transport._request_once

    def once(self: Transport, session: Any, method: str, path: str, body: bytes | None, *more: Any) -> Any:
        if body is not None:
            report = respondent.randomize(COIN, (1,), Draws())
            body = dump_report(report, COIN)
        return original(self, session, method, path, body, *more)

    patch.setattr(Transport, "_request_once", once)
    patch.setattr("sottovoce.client.delivery._same", lambda *_: True)


def no_ceiling(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(respondent, "check_allowance", lambda *_: None)


def no_digest(patch: pytest.MonkeyPatch) -> None:
    original = respondent.parse_link
    patch.setattr(respondent, "parse_link", lambda url: replace(original(url), digest=""))


FAULTS: list[tuple[Patch, Callable[[], None], str]] = [
    (biased_coin, check_frequencies, "another frequency"),
    (telling_order, check_form, "not the canonical report"),
    (extra_field, check_form, "not the canonical report"),
    (telling_length, check_form, "other headers"),
    (telling_header, check_form, "other headers"),
    (extra_request, check_form, "other requests"),
    (leaking_id, check_ids, "a bit of the id"),
    (weak_generator, check_generator, "assert 1 == 2"),
    (no_ceiling, check_survey, "DID NOT RAISE"),
    (no_digest, check_survey, "DID NOT RAISE"),
]
"""What is planted, who finds it, and in which words."""


@pytest.fixture(autouse=True)
def _no_ledger_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test writes to the ledger of whoever runs it."""
    monkeypatch.setenv("SOTTOVOCE_LEDGER", str(tmp_path / "ledger"))


def test_checks_pass_on_the_real_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is wrong here; checks of many people look at the same ones."""
    watch, many = wire.watch, wire.watch(COIN, TRUTHS, 1000)
    monkeypatch.setattr(wire, "watch", lambda *asked: many if asked[2] >= 1000 else watch(*asked))
    for check in CHECKS:
        check()


@pytest.mark.parametrize(("fault", "check", "words"), FAULTS, ids=lambda item: getattr(item, "__name__", ""))
def test_check_finds_the_planted_fault(
    monkeypatch: pytest.MonkeyPatch, fault: Patch, check: Callable[[], None], words: str
) -> None:
    fault(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception), match=words):
        check()


@pytest.mark.slow
def test_check_passes_and_finds_four_of_five_in_many_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three of four in 3,000 of each truth, and not a coin that is off by a twentieth."""
    check_frequencies(3000)
    monkeypatch.setitem(RANDOMIZERS, "binary_rr", lambda _, value, draws: value ^ (draws.below(5) == 0))
    with pytest.raises(AssertionError, match="another frequency"):
        check_frequencies(3000)


def test_check_finds_a_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """With more people where the machine is so busy that two milliseconds drown among a few."""
    slow_yes(monkeypatch)
    found: list[str] = []
    for count in (300, 1000, 3000):
        with suppress_into(found):
            check_times(count)
        if found:
            break
    assert ["the time depends" in message for message in found] == [True]


@contextmanager
def suppress_into(found: list[str]) -> Iterator[None]:
    """Keep what a check has to say."""
    try:
        yield
    except AssertionError as error:
        found.append(str(error))


def test_one_person_draws_once(tmp_path: Path) -> None:
    check_draw_once(tmp_path)


@pytest.mark.parametrize("fault", [no_memory, new_draw_for_every_try])
def test_check_finds_a_second_draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Patch) -> None:
    fault(monkeypatch)
    with pytest.raises(AssertionError, match="== 1"):
        check_draw_once(tmp_path)


def check_python_sources(sources: Sources) -> None:
    """No module but ``draws`` knows a generator, and that one only the system's."""
    assert [name for name, source in sources.items() if violations(name, source)] == []


def check_javascript_sources(sources: Sources) -> None:
    """No script names a weak generator; a signature's arithmetic has operators that are odd elsewhere."""
    found = [
        path
        for path, text in sources.items()
        for rule in FORBIDDEN
        if rule not in (BITWISE, HISTORY) and _found(rule, text)
    ]
    assert found == []


def _found(rule: str, text: str) -> bool:
    return re.search(rule, code_of(text)) is not None


def python_sources() -> Sources:
    paths = sorted((ROOT / "client").rglob("*.py"))
    return {module_of(path): path.read_text(encoding="utf-8") for path in paths}


WEAK = "(count) => Uint8Array.from({ length: count }, () => Math.random() * 256)"
STRONG = "(count) {\n  return crypto.getRandomValues(new Uint8Array(count));\n}"


def with_math_random() -> Sources:
    sources = modules()
    planted = sources["device/draws.js"].replace(STRONG, f"(count) {{\n  return ({WEAK})(count);\n}}")
    assert planted != sources["device/draws.js"]
    return {**sources, "device/draws.js": planted}


def test_sources_name_no_weak_generator() -> None:
    check_python_sources(python_sources())
    check_javascript_sources(modules())


@pytest.mark.parametrize("module", ["draws", "respondent", "transport", "randomizers"])
@pytest.mark.parametrize("line", ["import random", "from random import SystemRandom", "import numpy.random"])
def test_check_finds_a_weak_generator_in_python(module: str, line: str) -> None:
    sources = python_sources()
    name = f"sottovoce.client.{module}"
    with pytest.raises(AssertionError):
        check_python_sources({**sources, name: f"{line}\n{sources[name]}"})


def test_check_finds_math_random() -> None:
    with pytest.raises(AssertionError):
        check_javascript_sources(with_math_random())


EQUAL = 3
"""How the program below ends where the draws are the same; 1 would also be a program that does not run."""

CONSTANT = """
Math.random = () => 0.25;
const { Draws } = await import(process.argv[1]);
const drawn = [1, 2].map(() => new Draws().identity());
process.exit(drawn[0] === drawn[1] ? EQUAL : 0);
"""


@pytest.mark.parametrize("planted", [False, True])
def test_math_random_is_not_what_the_page_draws_from(tmp_path: Path, monkeypatch: Any, planted: bool) -> None:
    """With a constant in its place the page's draws still differ; with the fault they do not."""
    if planted:
        monkeypatch.setattr("sottovoce.client.bundle.modules", with_math_random)
    write_sources(tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    node = shutil.which("node")
    assert node, "node 20 or newer is needed"
    run = partial(subprocess.run, capture_output=True, timeout=60, check=False)
    ended = run(
        [
            node,
            "--input-type=module",
            "-e",
            CONSTANT.replace("EQUAL", str(EQUAL)),
            str(tmp_path / "device" / "draws.js"),
        ]
    )

    assert ended.returncode == (EQUAL if planted else 0), ended.stderr
