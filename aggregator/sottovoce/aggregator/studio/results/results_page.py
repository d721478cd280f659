"""Show the page "Results": estimates of each question, from snapshots, with intervals valid while it is open.

Rendered results are kept for all readers of the same snapshot, so that many readers do not slow intake.
"""

import hashlib
import io
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

from flask import Response, current_app, render_template, request
from sottovoce.aggregator.accounts.authentication import MOST_VIEW_DAYS, VIEW_DAYS, storage
from sottovoce.aggregator.analysis.estimates import RevisionCounts, analyse
from sottovoce.aggregator.analysis.published_counts import forget_counts, has_split, published, revisions_of
from sottovoce.aggregator.analysis.result_view import ShownTable, planned_tables
from sottovoce.aggregator.analysis.results_document import group_of
from sottovoce.aggregator.api.joint_results import JointResults
from sottovoce.aggregator.api.results import export_reply, note_read, wave_of
from sottovoce.aggregator.estimators.fixed_population import MOST
from sottovoce.aggregator.export.catalogue import COLUMNS, result_rows
from sottovoce.aggregator.file_formats.csv_cells import write_rows
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.http.headers import etag_of, unless_known
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.invitations.tokens import possibly_twice, token_counts
from sottovoce.aggregator.studio.design.preview_page import address_of_tried, trial_in
from sottovoce.aggregator.studio.labels import SurveyVariables, alarm_in_words, name_of_group
from sottovoce.aggregator.studio.request_context import attachment, words
from sottovoce.aggregator.studio.results.arm_split import CALCULATING, arm_split, or_why
from sottovoce.aggregator.studio.results.results_view import QuestionCard, ResultsView, results_by_arm, view_of
from sottovoce.aggregator.studio.results.svg_chart import drawing, has_png, png_of
from sottovoce.aggregator.studio.results.view_options import LEVELS, MOST_PEOPLE, ViewOptions
from sottovoce.aggregator.studio.survey_frame import draft_placeholder, may_open, published_page
from sottovoce.aggregator.surveys.lifecycle import unknown_survey
from sottovoce.shared.accounting import BELIEF_BEFORE, percent_after
from sottovoce.shared.parse_item import planned_comparisons
from sottovoce.shared.spec import Survey

MOST_RENDERINGS = 32
"""Number of kept renderings; the one that was not read for the longest time goes first."""


@dataclass(frozen=True)
class RenderedResults:
    """Results of one snapshot with one choice of options in one language.

    ``names`` are the values that the templates need; ``live`` is the HTML, without anything about the reader.
    """

    view: ResultsView
    names: Mapping[str, object]
    live: str


def snapshot_key(revisions: Sequence[RevisionCounts]) -> bytes:
    """Return a hash of what the survey shows; it never leaves this process."""
    shown = [(each.stored.digest, each.stored.closed, sorted(each.withheld), each.cells) for each in revisions]
    return hashlib.sha256(repr((shown, revisions[-1].stored.was_closed, sorted(revisions[-1].asked))).encode()).digest()


class RenderingCache:
    """Renderings by snapshot and options; several readers of a new snapshot wait for one rendering."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._renderings: OrderedDict[tuple[str, Hashable], Future[RenderedResults]] = OrderedDict()

    def get(self, name: str, key: Hashable, render: Callable[[], RenderedResults]) -> RenderedResults:
        """Return a kept rendering by ``key``, everything that it depends on, or make it.

        What ``render`` raises is raised to all who wait for it, and is not kept.
        """
        with self._lock:
            found = self._renderings.get((name, key))
            made = self._renderings[name, key] = found or Future()
            self._renderings.move_to_end((name, key))
            if len(self._renderings) > MOST_RENDERINGS:
                self._renderings.popitem(last=False)
        if found is None:
            self._render((name, key), made, render)
        return made.result()

    def drop(self, name: str) -> None:
        """Forget the renderings of a survey that is deleted."""
        forget_counts()
        with self._lock:
            for key in [key for key in self._renderings if key[0] == name]:
                del self._renderings[key]

    def _render(
        self, key: tuple[str, Hashable], made: Future[RenderedResults], render: Callable[[], RenderedResults]
    ) -> None:
        try:
            made.set_result(render())
        except BaseException as error:
            with self._lock:
                self._renderings.pop(key, None)
            made.set_exception(error)


REFRESH = 30
"""Polling interval of the page of an open survey, in seconds."""

REFRESH_TRIAL = 3
"""Polling interval for a test run; short, because its author waits for the report just sent."""


@dataclass(frozen=True)
class PlannedResults:
    """Planned comparisons of a closed survey, or the reason why there are none yet.

    Attributes:
        count: number of planned comparisons; 0 without a plan.
        made: documents of the comparisons, in the order of the plan.
        why: ``open``, ``calculating`` or ``refused``; "" with results.
    """

    count: int = 0
    made: Sequence[Mapping[str, Any]] = ()
    why: str = ""


def planned_results(survey: Survey) -> PlannedResults:
    """Return the planned comparisons of a survey."""
    count = len(planned_comparisons(survey))
    if not count:
        return PlannedResults()
    joint: JointResults = current_app.extensions["joint_results"]
    planned, why = or_why(lambda: joint.planned(survey))
    return PlannedResults(count, () if planned is None else planned["comparisons"], why)


def results(name: str) -> Response:
    """Show the results of a survey with the chosen ``ViewOptions``; for a draft, the placeholder page."""
    if (placeholder := draft_placeholder(name, "results")) is not None:
        return Response(placeholder)
    frame = published_page(name, "results")
    shown = _rendered(name, frame.stage == "few")
    view = shown.view
    # The ETag covers the results only: the rest of the page depends on the reader.
    etag = etag_of(f"{frame.title}\n{frame.state}\n{shown.live}".encode())
    page = render_template(
        "results.html",
        page="results",
        frame=frame,
        view=view,
        live=shown.live,
        etag=etag,
        refresh=_refresh(view),
        may_show_all=not view.survey.trial and may_open(name, "change_board"),
        days=VIEW_DAYS,
        most=MOST_VIEW_DAYS,
        **_trial(name, view),
        **shown.names,
    )
    return unless_known(Response(page), etag)


def _refresh(view: ResultsView) -> int:
    """Return the polling interval of the page in seconds; 0 if nothing will change."""
    soon = CALCULATING in {view.arms.why, planned_results(view.survey).why}
    return (REFRESH_TRIAL if soon or view.survey.trial else REFRESH) if soon or not view.results.closed else 0


def _rendered(name: str, few: bool) -> RenderedResults:
    """Return the results with the reader's options, after recording the reading; rendered once per snapshot."""
    revisions = _revisions(name)
    note_read(name, revisions)
    choices, plan, survey = ViewOptions.of(request.args), storage().drafts.plan(name), revisions[-1].survey
    # The most people who may have reported twice because a restore reissued invitations.
    twice = possibly_twice(storage(), survey.name) if survey.is_blind else 0
    # How many personal links were made tells of no person, unlike how many were used or revoked.
    links = token_counts(storage(), survey.name).created if survey.asks_for_invitation else 0
    split, plan_results = arm_split(name, revisions, choices), planned_results(survey)

    def render() -> RenderedResults:
        view = view_of(revisions, choices, plan, split)
        variables = SurveyVariables(view.survey, words())
        names = names_in(view) | {
            "comparisons": plan_results,
            "compared": planned_tables(plan_results.made, variables),
            "designed": None if choices.cohort else _designed(view, plan_results.made, variables),
        }
        return RenderedResults(
            view, names, render_template("results_live.html", view=view, few=few, twice=twice, links=links, **names)
        )

    cache: RenderingCache = current_app.extensions["rendered_results"]
    return cache.get(
        name,
        (snapshot_key(revisions), choices, words().language, plan, few, twice, links, split.why, plan_results.why),
        render,
    )


def _designed(
    view: ResultsView, made: Sequence[Mapping[str, Any]], variables: SurveyVariables
) -> tuple[str, ShownTable] | None:
    """Return the text and the shares of the design of the question that is to lead the page; None without a design."""
    leads = "" if view.finding is None else view.finding[0].result.question.name
    for each in made:
        plan = each["planned"]
        if "design" in plan and leads in (plan["question"], plan["against"]):
            return variables.text(leads), planned_tables([each], variables)[0]
    return None


def _trial(name: str, view: ResultsView) -> dict[str, object]:
    """Return template values of a test run: its description with the link, and the URL of the tested survey."""
    if not view.survey.trial:
        return {"trial": None}
    return {"trial": trial_in(storage().revisions(name)[-1]), "tried": address_of_tried(name)}


def download(name: str) -> Response:
    """Download the results as JSON."""
    choices, revisions = ViewOptions.of(request.args), _revisions(name)
    note_read(name, revisions)
    found = analyse(revisions, choices.cohort, wave=wave_of(choices.wave), confidence=choices.confidence)
    group = None if choices.people is None else group_of(revisions, found, choices.people)
    return export_reply(name, found, group, results_by_arm(found, choices, arm_split(name, revisions, choices)))


def _figures(view: ResultsView, question: str, about: About) -> str:
    """Return the estimates of a question as CSV, with provenance in the first lines."""
    asked, text = COLUMNS.index("question"), io.StringIO(newline="")
    write_rows(text, about, COLUMNS, [row for row in result_rows(view.results, about) if row[asked] == question])
    return text.getvalue()


class PicturedResults(NamedTuple):
    """Results whose figures and charts are downloaded, with the warning in the picture; "" for real ones."""

    view: ResultsView
    about: About
    warning: str = ""


def picture_routes(
    prefix: str, path: str, pictured: Callable[[str], PicturedResults], summaries: Sequence[str], *, has_etag: bool
) -> Iterator[Route]:
    """Yield the routes of a question's charts as SVG and as PNG, and of its estimates as CSV.

    Args:
        prefix: of their endpoints.
        path: that their paths begin with.
        pictured: function of the name of the survey.
    """

    def show(name: str, question: str, kind: str) -> Response:
        view, about, warning = pictured(name)
        card = card_of(view, question)
        if kind == "csv":
            body: str | bytes = _figures(view, question, about)
        else:
            drawn = drawing(card, view, words(), warning)
            body = png_of(drawn) if kind == "png" else render_template("chart.svg", drawn=drawn)
        reply = attachment(body, _MEDIA_TYPES[kind], f"{about.prefix}{name}-{question}.{kind}")
        return unless_known(reply) if has_etag else reply

    for (endpoint, kind), summary in zip(_PICTURES.items(), summaries, strict=True):
        view = partial(show, kind=kind)
        yield Route(f"{prefix}{endpoint}", "GET", f"{path}/<question>.{kind}", view, summary, has_etag=has_etag)


_MEDIA_TYPES = {"svg": "image/svg+xml", "png": "image/png", "csv": "text/csv; charset=utf-8"}
_PICTURES = {"chart": "svg", "picture": "png", "figures": "csv"}


def _revisions(name: str) -> Sequence[RevisionCounts]:
    revisions = (published if ViewOptions.of(request.args).among_all else revisions_of)(storage(), name)
    if not revisions:
        raise unknown_survey()
    return revisions


def _pictured(name: str) -> PicturedResults:
    revisions = _revisions(name)
    note_read(name, revisions)
    choices, plan = ViewOptions.of(request.args), storage().drafts.plan(name)
    view = view_of(revisions, choices, plan, arm_split(name, revisions, choices))
    return PicturedResults(view, About.of(view.survey, revisions=[each.survey for each in revisions]))


def card_of(view: ResultsView, question: str) -> QuestionCard:
    """Find a question of the page; raise Refusal without one, or if its tables are published with noise only."""
    for card in view.cards:
        if card.result.question.name == question:
            return card
    if question in view.results.withheld:
        raise Refusal("not_found", "its tables are published with noise, on Files; exact ones are shown nowhere")
    raise Refusal("not_found", "the survey has no such question")


def names_in(view: ResultsView) -> dict[str, object]:
    """Return the values that the templates of results need."""
    survey, link = view.survey, current_app.extensions["settings"].link
    return {
        "survey": survey,
        "results": view.results,
        "choices": view.choices,
        "still_open": not view.results.closed,
        "worst": percent_after(view.results.epsilon_of_person) / 100 if survey.private else None,
        "belief_before": BELIEF_BEFORE,
        "has_split": has_split(survey),
        "levels": LEVELS,
        "most_people": MOST_PEOPLE,
        "most_in_class": MOST,
        "has_png": has_png(words().language),
        "endpoint_prefix": "studio.",
        "link": link(survey.name, survey.digest),
        "groups": [
            (group.name, name_of_group(survey, group, words()), group.reports) for group in view.results.cohorts
        ],
        "alarms": [alarm_in_words(alarm, view.results, view.invited, words()) for alarm in view.alarms],
    }


_RESULTS = "/dashboard/surveys/<name>/results"
_SUMMARIES = (
    "Download one question's charts as a picture.", "Download one question's charts as PNG.",
    "Download one question's figures for a spreadsheet.",
)  # fmt: skip

ROUTES = (
    Route("studio.results", "GET", _RESULTS, results, "Show one survey's results, question by question.",
          has_etag=True),
    Route("studio.download", "GET", f"{_RESULTS}/export.json", download, "Download the same results as a file.",
          has_etag=True),
    *picture_routes("studio.", _RESULTS, _pictured, _SUMMARIES, has_etag=True),
)  # fmt: skip
"""Routes of the page "Results" and of its files."""
