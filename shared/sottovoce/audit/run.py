"""
A whole audit, part by part: integers, Python, JavaScript and sampled reports of this installation, then what an
aggregator serves.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sottovoce.audit.check import FAILED, NOT_DONE, PARTS, PASSED, Check, Tick
from sottovoce.audit.exact_channel import MAX_WORK, QUICK_WORK
from sottovoce.audit.histories import DeviceHistory, check_histories, check_set, histories_of
from sottovoce.audit.interference import SUBJECT, check_python_runs
from sottovoce.audit.javascript_code import NO_RUNS, check_form, check_javascript
from sottovoce.audit.javascript_way import FORM
from sottovoce.audit.kept_verdicts import scripts
from sottovoce.audit.limits import ALLOWED, check_limits
from sottovoce.audit.promises import promises_kept, statement
from sottovoce.audit.python_code import (
    Task,
    check_instructions,
    check_integers,
    check_python,
    check_python_refusals,
    check_written,
    plan,
    private,
)
from sottovoce.audit.randomness import ID_LAW, begin_programs, check_id_laws, check_ids, check_source
from sottovoce.audit.runs import RunPlan, plan_runs
from sottovoce.audit.sampled_reports import Sampling, check_reports, python_device
from sottovoce.audit.subprocess_worker import started_beside, surely
from sottovoce.audit.test_keys import with_test_keys
from sottovoce.client.link import Link
from sottovoce.shared.errors import TransportError
from sottovoce.shared.own_coin import procedure
from sottovoce.shared.spec import Question, Survey

if TYPE_CHECKING:  # the driver of browsers is only needed where a served client is audited
    from sottovoce.audit import chromium

FORMAT = "sottovoce-audit/1"
INCOMPLETE = "incomplete"

_GIVES_WAY = {"rest": 10}
"""Degrees by which what begins later gives way in a whole audit: longest first."""


@dataclass(frozen=True)
class Order:
    """
    What is to be audited.

    Attributes:
        survey: whose claims.
        runs: reports to sample of each invented person; 0 for no samples of this installation.
        alpha: probability that sampling fails what is right, at most, in all parts together.
        link: of the survey at an aggregator whose client is audited too; None for this installation only.
        visits: visits of each person to the served form; None for as many as the claims need.
        quick: fewer true values, whole runs and events of a life, for use while the survey is edited.
    """

    survey: Survey
    runs: int
    alpha: float
    link: Link | None = None
    visits: int | None = None
    quick: bool = False

    @property
    def level(self) -> float:
        """Alpha of one part: three of them sample where a served client is audited, else one."""
        return self.alpha if self.link is None else self.alpha / 3


Begin = Callable[[str, float], Tick]
"""``begin(name, total)`` when a part begins; what it gives is called with each share of the total that is done."""


def audit(order: Order, begin: Begin) -> list[Check]:
    """
    All checks. If the aggregator serves another survey, nothing else is tried.

    Raises:
        TransportError: the aggregator cannot be reached, or there is no browser.
        SpecError: what it serves is no survey.
    """
    if order.link is None:
        return _audit_here(order, begin)
    _find_browser()
    from sottovoce.audit import served_page

    served = served_page.fetch_survey(order.link)
    first = served_page.check_survey(order.link, order.survey, served)
    if first.outcome != PASSED:
        return [first]
    # What is served may say what it replaces, and so have another digest than the file's, which reports name.
    same = replace(order, survey=served)
    return [first, *_audit_here(same, begin), *_audit_served(same, order.link, begin)]


def _audit_here(order: Order, begin: Begin) -> list[Check]:
    """Integers, Python, JavaScript and sampled reports, of this installation."""
    order = replace(order, survey=with_test_keys(order.survey))
    survey = order.survey
    # Put together once, before there are several processes; where they cannot be, that shows below.
    with suppress(Exception):
        scripts()
    # Processes of their own: what is watched here is disturbed by nothing that runs there.
    ways = dict.fromkeys(_GIVES_WAY, 0) if order.quick else _GIVES_WAY
    tick = begin("plan, whole runs of Python", 2)
    runs, failed = _planned(order)
    tick(1)
    # First what takes longest where little is tried.
    form = started_beside("javascript", FORM, lambda: check_form(survey, scripts(), runs), ways["rest"])
    work = QUICK_WORK if order.quick else MAX_WORK
    tasks = {question.name: plan(question, work) for question in private(survey)}
    run = [task for task in tasks.values() if task is not None]
    found, lacking = histories_of(survey)
    enumerated = started_beside("python", "all questions", lambda: _enumerated(survey, tasks, found))
    javascript = started_beside(
        "javascript", "all questions", lambda: check_javascript(survey, run, scripts(), found, runs), ways["rest"]
    )
    samples = started_beside("reports", "all questions", lambda: sampled(order) if order.runs else [], ways["rest"])
    whole = surely("python", SUBJECT, lambda: check_python_runs(survey, runs, tick))
    tick = begin("laws, JavaScript and samples", 5)
    checks = []
    for each in (enumerated, lambda: [*lacking, *failed, *whole], javascript, form, samples):
        checks += each()
        tick(1)
    return [*statement(survey, runs, checks), *checks]


def _enumerated(survey: Survey, tasks: Mapping[str, Task | None], found: Sequence[DeviceHistory]) -> list[Check]:
    """All that is shown of Python by its laws, and of what it refuses."""
    programs = begin_programs()
    run = [task for task in tasks.values() if task is not None]
    return [
        *_laws(survey, tasks),
        *surely("python", "histories", lambda: [*check_set(survey), *check_histories(found)]),
        check_python_refusals(survey),
        *check_source(programs),
        *surely("python", ALLOWED, lambda: check_limits(survey)),
        *surely("python", ID_LAW, lambda: check_id_laws([] if survey.own_coin else run)),
    ]


def _planned(order: Order) -> tuple[RunPlan, list[Check]]:
    """The whole runs; a client that cannot even be planned for has failed."""
    plans: list[RunPlan] = []

    def plan_them() -> list[Check]:
        plans.append(plan_runs(order.survey, order.quick))
        return []

    failed = surely("python", SUBJECT, plan_them)
    return (plans[0] if plans else NO_RUNS), failed


def _laws(survey: Survey, tasks: Mapping[str, Task | None]) -> list[Check]:
    """The numbers and the running Python randomizers."""
    checks = [check_written(survey)]
    for question in private(survey):
        checks.append(check_integers(question))
        task = tasks[question.name]
        if task is None:
            message = "its branches are too many, those of a smaller question as well"
            checks.append(Check("python", question.name, NOT_DONE, question.epsilon, message=message))
        else:
            checks.append(_by_hand(question) if survey.own_coin else check_python(task))
    return checks


def sampled(order: Order) -> list[Check]:
    """Sampled reports of the Python client, and their ids; the first two people's are compared."""
    ids: list[tuple[str, object]] = []
    sampling = Sampling(order.runs, order.level / 2, lambda _share: None)
    checks = check_reports("reports", order.survey, python_device(order.survey, ids), sampling)
    return [*checks, check_ids("reports", (ids[: order.runs], ids[order.runs : 2 * order.runs]), order.level / 2)]


def _by_hand(question: Question) -> Check:
    assert question.mechanism is not None  # noqa: S101 - only such questions are audited
    return check_instructions("python", question, procedure(question.mechanism))


def _find_browser() -> None:
    """Known before the long work."""
    try:
        from sottovoce.audit import chromium
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("playwright"):
            raise TransportError("--client needs: pip install 'sottovoce[audit]', and a Chromium") from None
        raise
    chromium.program()


def _audit_served(order: Order, link: Link, begin: Begin) -> Iterator[Check]:
    from sottovoce.audit import browser_runs, browser_visit, chromium, served_page

    survey = order.survey
    files, scripts = served_page.check_files(link)
    yield from files
    with chromium.Watch(chromium.PATIENCE) as watch, chromium.browser() as browser:
        sampling = Sampling(order.runs, order.level, _heard(watch, begin("served scripts", 1)))
        yield from served_page.check_script(browser, scripts, survey, sampling)
        visits = order.visits or browser_visit.visits_for(survey, order.level)
        sampling = Sampling(visits, order.level, _heard(watch, begin("served page", 1)))
        # Nobody but the aggregator can sign with the survey's own keys.
        survey = with_test_keys(survey)
        link = replace(link, wave=min(link.wave, len(survey.waves) - 1))
        yield from served_page.check_page(browser, link, survey, sampling)
        tick = _heard(watch, begin("whole visits", 1))
        yield from browser_runs.check_runs(browser, link, survey, plan_runs(survey, quick=True), tick)


def _heard(watch: "chromium.Watch", tick: Tick) -> Tick:
    def both(share: float) -> None:
        watch.heard()
        tick(share)

    return both


def report(order: Order, checks: list[Check]) -> dict[str, Any]:
    """The document (sottovoce-audit/1)."""
    survey = order.survey
    outcomes = {check.outcome for check in checks}
    verdict = FAILED if FAILED in outcomes else PASSED if outcomes == {PASSED} else INCOMPLETE
    return {
        "format": FORMAT,
        "survey": survey.name,
        "revision": survey.revision,
        "digest": survey.digest,
        "title": survey.text(survey.title),
        "epsilon": survey.epsilon,
        "runs": order.runs,
        "alpha": order.alpha,
        "verdict": verdict,
        "promises": promises_kept(checks),
        "checks": [check.as_dict() for check in sorted(checks, key=lambda check: PARTS.index(check.part))],
    }
