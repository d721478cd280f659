"""
The part of an audit that looks at the browser's client as an aggregator really serves it.

files    the survey by its digest, and every served file, byte for byte, against this release's own
script   the served scripts' own functions, run many times in the browser, counted as ``sampled_reports`` does
page     visits of invented people: what the form sends is caught before it leaves the browser, and answered here

An aggregator can serve other files to other people, and to visitors that look like an audit. A fault found here is
certain; a pass holds only for the files whose digests the report names.
"""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count as numbers
from typing import Any, NamedTuple, TypeVar

import requests
from playwright.sync_api import Browser, Error, Page, Route
from sottovoce.audit.check import FAILED, NOT_DONE, PASSED, Check
from sottovoce.audit.mock_aggregator import MockReply
from sottovoce.audit.randomness import check_ids
from sottovoce.audit.sampled_reports import Reported, Sampling, Truth, check_reports
from sottovoce.audit.served.browser_visit import TOO_DEAR, ServedForm, is_too_dear, seen_truth, turns_for, visits
from sottovoce.client.link import Link
from sottovoce.client.page import assemble, by_path, opened, path_of
from sottovoce.client.revisions import survey_for
from sottovoce.client.transport import MAX_REVISIONS_BYTES
from sottovoce.shared.errors import SurveyError, TransportError
from sottovoce.shared.spec import Survey

MAX_BYTES = 4 * 1024 * 1024
SECONDS = 30
"""For each file, from the request to its last byte."""

_BATCH = 2000
_BATCH_SECONDS = 60
_LATE = "the aggregator did not answer within {:g} s"
_NO_REPORT = "it does not draw a report as it should, or not in time"
_BLANK = "<!doctype html><title>audit</title>"
_NUMBERS = numbers()
"""So that what a script says late is not taken for the outcome of the next one."""

_LOAD = """([mark, scripts, survey]) => {
  const load = async () => {
    const product = Object.assign({}, ...(await Promise.all(scripts.map((name) => import(`/assets/${name}`)))));
    const asked = await product.loadSurvey(new TextEncoder().encode(survey));
    await product.bringRandomizers(asked);
    globalThis.audited = (truths, count) => {
      const reports = [];
      for (let i = 0; i < count; i += 1) {
        let read = 0;
        const draws = new product.Draws((bytes) => ((read += bytes), crypto.getRandomValues(new Uint8Array(bytes))));
        const places = product.drawAsked(asked, draws);
        const values = truths[i % truths.length].map((value, index) => (places.includes(index) ? value : null));
        const memo = asked.memoized.length ? product.drawMemo(asked, draws) : null;
        const body = product.dumpReport(product.randomize(asked, values, draws, 0, memo), asked);
        const { report_id, values: reported } = JSON.parse(body);
        reports.push([reported, new TextEncoder().encode(body).length, read, report_id]);
      }
      return reports;
    };
    return "loaded";
  };
  load().catch(() => "broken").then((outcome) => console.info(mark + JSON.stringify(outcome)));
}"""

# Told apart from the answer to it, so that a script that never comes back is given up, and not waited for.
_RUN = """([mark, truths, count]) => {
  setTimeout(() => {
    let outcome = "broken";
    try {
      outcome = audited(truths, count);
    } catch {
      // The missing outcome is reported as broken.
    }
    console.info(mark + JSON.stringify(outcome));
  });
}"""

T = TypeVar("T")


class _Publisher(NamedTuple):
    """The aggregator as one who reads surveys sees it."""

    origin: str

    def fetch_survey(self, name: str) -> bytes:
        return _fetch(f"{self.origin}/api/v1/surveys/{name}")

    def fetch_revisions(self, name: str) -> bytes | None:
        try:
            return _fetch(f"{self.origin}/api/v1/surveys/{name}/revisions", MAX_REVISIONS_BYTES)
        except TransportError as error:
            if error.status == requests.codes.not_found:
                return None
            raise


def fetch_survey(link: Link) -> Survey:
    """
    The survey that the aggregator serves for a link, the newest revision or an earlier one.

    Raises:
        TransportError: it cannot be reached, refuses, takes too long, or has no such survey.
        SpecError: what it serves is no survey.
    """
    return survey_for(_Publisher(link.origin), link)


def check_survey(link: Link, survey: Survey, served: Survey) -> Check:
    """
    Check that the aggregator serves the survey of the file.

    Args:
        link: to it.
        survey: of the file, which need not say what it replaces, nor which keys sign: publishing fills that in.
        served: what ``fetch_survey`` gives.
    """
    # The keys are generated when the survey is published, so the file cannot have them.
    added = {"access": None} if survey.is_blind and served.is_blind and not survey.moduli else {}
    mine, theirs = ({**each.document, "replaces": None, **added} for each in (survey, served))
    if mine != theirs:
        return Check("files", "survey", FAILED, message="the aggregator serves another survey than the file's")
    if link.wave >= len(survey.waves):
        return Check("files", "survey", FAILED, message="the link is for a wave that the survey does not have")
    return Check("files", "survey", PASSED, scope=f"digest {served.digest}")


def check_files(link: Link) -> tuple[list[Check], dict[str, str]]:
    """
    Every served file against this release's; and the scripts as they were served.

    Raises:
        TransportError: a file cannot be fetched, or takes too long.
    """
    checks, scripts = [], {}
    for name, asset in assemble().items():
        body = _fetch(link.origin + path_of(name, asset, link.survey))
        digest = hashlib.sha256(body).hexdigest()
        if body == asset.body:
            checks.append(Check("files", name, PASSED, scope=f"SHA-256 {digest}"))
        else:
            ours = hashlib.sha256(asset.body).hexdigest()
            message = f"served with SHA-256 {digest}; this release's has {ours}"
            checks.append(Check("files", name, FAILED, message=message))
        scripts[name] = body.decode(errors="replace")
    return checks, {name: scripts[name] for name in opened()}


def fetch_form(link: Link) -> dict[str, MockReply]:
    """
    The files of the form as the aggregator serves them, by path, for visits that reach only the audit's listener.

    Raises:
        TransportError: a file cannot be fetched, or takes too long.
    """
    files = by_path(assemble(), link.survey)
    return {path: MockReply(200, _fetch(link.origin + path), asset.content_type) for path, asset in files.items()}


def check_script(browser: Browser, scripts: Mapping[str, str], survey: Survey, sampling: Sampling) -> list[Check]:
    """
    The served scripts' own drawing, counted.

    Args:
        browser: runs them.
        scripts: by name, as they were served.
        survey: whose reports are drawn.
        sampling: how many, of whom, and how sure the result is to be.
    """
    page = browser.new_page()
    served = opened(scripts)

    def serve(route: Route) -> None:
        # An empty page of a secure origin: the scripts find no form to fill and no network to use.
        name = route.request.url.rpartition("/")[2]
        if name in served:
            route.fulfill(body=served[name], content_type="text/javascript")
        else:
            route.fulfill(body=_BLANK, content_type="text/html")

    try:
        page.route("**/*", serve)
        page.goto("https://audit.invalid/")
        if _outcome(page, _LOAD, list(served), survey.canonical.decode()) != "loaded":
            raise ValueError
        ids: list[tuple[str, object]] = []
        halved = replace(sampling, alpha=sampling.alpha / 2)
        checks = check_reports("script", survey, partial(_drawn, page, ids), halved)
        people = ids[: sampling.runs], ids[sampling.runs : 2 * sampling.runs]
        return [*checks, check_ids("script", people, halved.alpha)]
    except (Error, TypeError, ValueError):
        return [Check("script", "served scripts", FAILED, message=_NO_REPORT)]
    finally:
        page.close()


def _drawn(page: Page, ids: list[tuple[str, object]], truths: Sequence[Truth], count: int) -> Iterator[Reported]:
    """Make ``count`` reports with the loaded scripts and collect their ids; raise ``ValueError`` if fewer come."""
    while count > 0:
        # Of even length, so that people stay in turn from one batch to the next.
        part = min(count, _BATCH)
        count -= part
        made = _outcome(page, _RUN, truths, part)
        if len(made) != part:
            raise ValueError
        for found, length, read, identity in made:
            ids.append((str(identity), found))
            yield tuple(found), length, read


def check_page(browser: Browser, form: ServedForm, sampling: Sampling) -> list[Check]:
    """
    Check the reports that the form sends when people fill it in; none reaches the aggregator.

    Args:
        browser: opens a new visitor for each report.
        form: as it is served.
        sampling: how many, of whom, and how sure the result is to be.
    """
    survey = form.survey
    if is_too_dear(survey):
        return [Check("page", "served page", NOT_DONE, message=TOO_DEAR)]
    known: set[str] = set()

    def device(truths: Sequence[Truth], count: int) -> Iterator[Reported]:
        return visits(browser, form, [truths[run % len(truths)] for run in range(count)], known)

    sampling = replace(sampling, truth=seen_truth, turns=turns_for(survey), wave=form.wave)
    try:
        return check_reports("page", survey, device, sampling)
    except TransportError as error:
        problem = str(error)
    except (Error, SurveyError, KeyError, TypeError, ValueError):
        problem = "it cannot be filled in, or does not send a report as it should"
    return [Check("page", "served page", FAILED, message=problem)]


def _outcome(page: Page, script: str, *given: Any) -> Any:  # noqa: ANN401 - whatever the script says
    """
    Run a script and return the JSON that it prints on the console within ``_BATCH_SECONDS``.

    The result is not read from the page itself: a call to a page that never stops working may wait for ever, and the
    driver's time limit does not end it.
    """
    mark = f"outcome {next(_NUMBERS)}: "
    limit = _BATCH_SECONDS * 1000
    with page.expect_console_message(lambda message: message.text.startswith(mark), timeout=limit) as printed:
        page.evaluate(script, [mark, *given])
    return json.loads(printed.value.text.removeprefix(mark))


def _fetch(address: str, most: int = MAX_BYTES) -> bytes:
    """
    A file, read whole within ``SECONDS``.

    Raises:
        TransportError: it does not come, not in time, not as it should, or is too large.
    """
    return _within(SECONDS, lambda: _get(address, most))


def _get(address: str, most: int) -> bytes:
    try:
        with requests.get(address, timeout=SECONDS, allow_redirects=False, stream=True) as reply:
            if reply.status_code != requests.codes.ok:
                raise TransportError(f"the aggregator refused with status {reply.status_code}", reply.status_code)
            body = b""
            for part in reply.iter_content(64 * 1024):
                body += part
                if len(body) > most:
                    raise TransportError("the aggregator sent a file that is too large")
            return body
    except requests.Timeout:
        raise TransportError(_LATE.format(SECONDS)) from None
    except requests.RequestException:
        raise TransportError("the aggregator cannot be reached, or its reply cannot be read") from None


def _within(seconds: float, work: Callable[[], T]) -> T:
    """Return the work's result within a limit, even if an aggregator sends only a byte now and then."""
    found: list[T] = []
    failed: list[TransportError] = []

    def run() -> None:
        try:
            found.append(work())
        except TransportError as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not found:
        raise TransportError(_LATE.format(seconds))
    return found[0]
