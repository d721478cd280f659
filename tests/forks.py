"""Runs tests in several processes, made once all tests are collected: ``pytest -p tests.forks --processes 4``.

Processes that each collect by themselves need 15 s of a processor each before the first test, and memory each.
"""

import atexit
import itertools
import os
import signal
import tempfile
from collections.abc import Iterator
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path

import pytest

WAITING = ("journey", "storage", "planted", "conformance")
"""Folders whose tests wait for servers and databases for longer than they compute."""

BROWSER = "browser"
"""The folder of tests for which each process that runs one starts a browser and servers: 4 s of a processor."""

LONG = ("meetings", "gallery", "whole_runs", "planted_client", "secrets", "wire", "demo", "random_surveys", "blocks",
        "square_wave", "javascript", "joint_pages", "question_observed", "without_scripts", "file_analysis", "arms",
        "one_report", "every_type", "staff_pages", "published_survey", "stranger")  # fmt: skip
"""Files that take longer than their size says: they begin first."""

NUMBER = 4
"""Bytes of a number in a queue."""

Files = list[list[pytest.Item]]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processes", type=int, default=0, help="how many processes run the tests")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run each file's tests in whichever process is free, and report all in this one."""
    number = session.config.getoption("processes")
    if not number or session.testsfailed or session.config.option.collectonly:
        return None
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    reporter.showfspath = False
    files, queues = _queues(session.items)
    # Each begins with another kind, so that some wait while others compute and few need a browser.
    children = dict(_fork(session, files, [*queues, *queues][one % 3 : one % 3 + 3]) for one in range(number))
    try:
        _report(session, children)
    finally:
        for pid in children.values():
            os.kill(pid, signal.SIGINT)
            os.waitpid(pid, 0)
    return True


def _queues(items: list[pytest.Item]) -> tuple[Files, list[int]]:
    """Return the tests by file, and pipes of numbers of files: those that need a browser, that compute, and that wait.

    Files come by size, those that take longer first, so that none of these begins when all others end. Of those that
    wait, the folders come in turn.
    """
    files = [list(tests) for _, tests in itertools.groupby(items, lambda item: item.path)]
    files.sort(key=lambda tests: (tests[0].path.stem[5:] not in LONG, -tests[0].path.stat().st_size))
    folders: dict[str, list[int]] = {folder: [] for folder in (*WAITING, BROWSER, "")}
    for number, tests in enumerate(files):
        folder = tests[0].path.relative_to(Path(__file__).parent).parts[0]
        folders[folder if folder in folders else ""].append(number)
    browser, computing = folders.pop(BROWSER), folders.pop("")
    waiting = [one for turn in itertools.zip_longest(*folders.values()) for one in turn if one is not None]
    return files, [_queue(browser), _queue(computing), _queue(waiting)]


def _queue(numbers: list[int]) -> int:
    """Return the end of a pipe from which each process reads the next number; a pipe holds 16,000."""
    read, write = os.pipe()
    os.write(write, b"".join(number.to_bytes(NUMBER) for number in numbers))
    os.close(write)
    return read


def _fork(session: pytest.Session, files: Files, queues: list[int]) -> tuple[Connection, int]:
    """Return what a new process reports on, and its number."""
    heard, said = Pipe(duplex=False)
    pid = os.fork()
    if pid:
        said.close()
        return heard, pid
    code = 1
    try:
        _run(session, files, queues, said)
        atexit._run_exitfuncs()
        code = 0
    finally:
        os._exit(code)


class _Reporter:
    """Sends what began and what came of it, in the place of the terminal."""

    def __init__(self, config: pytest.Config, said: Connection) -> None:
        self._config, self._said = config, said

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._said.send(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._said.send(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))


def _run(session: pytest.Session, files: Files, queues: list[int], said: Connection) -> None:
    """Run files until the queues are empty, with a folder and captured output of the process's own."""
    plugins = session.config.pluginmanager
    plugins.unregister(name="terminalreporter")
    plugins.register(_Reporter(session.config, said))
    capture = plugins.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    folders = session.config._tmp_path_factory  # type: ignore[attr-defined]
    folders._basetemp = Path(tempfile.mkdtemp(prefix="process", dir=folders.getbasetemp()))
    tests = _taken(files, queues)
    item = next(tests, None)
    try:
        while item and not (session.shouldfail or session.shouldstop):
            # The next file is taken before the last test of this one, so that what both need is kept between them.
            following = next(tests, None)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            item = following
    finally:
        session._setupstate.teardown_exact(None)


def _taken(files: Files, queues: list[int]) -> Iterator[pytest.Item]:
    for queue in queues:
        while number := os.read(queue, NUMBER):
            yield from files[int.from_bytes(number)]


def _report(session: pytest.Session, children: dict[Connection, int]) -> None:
    """Report what the processes send until the last has ended; raises if one ended before its tests."""
    hook, begun, lost = session.config.hook, dict[Connection, str](), list[str]()
    while children:
        for heard in wait(list(children)):
            assert isinstance(heard, Connection)
            try:
                sent = heard.recv()
            except EOFError:
                _, status = os.waitpid(children.pop(heard), 0)
                if status:
                    lost.append(begun.get(heard, "no test"))
                continue
            if isinstance(sent, str):
                begun[heard] = sent
                continue
            report = hook.pytest_report_from_serializable(config=session.config, data=sent)
            hook.pytest_runtest_logreport(report=report)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
    if lost:
        raise RuntimeError(f"a process ended while it ran {', '.join(lost)}")
