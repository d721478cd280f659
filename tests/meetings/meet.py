"""Asks the product in all its ways, and says in what it differs from the reference."""

import html
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sottovoce.aggregator.accounts.authentication import new_key
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.export.catalogue import together
from sottovoce.aggregator.export.results_client.open_results import open_results
from sottovoce.aggregator.export.results_client.sources import StoredReports
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.errors import SurveyError

from tests.exported import TODAY, send, source
from tests.meetings.models import effects, modelled
from tests.meetings.reference import FEW, Figure, Reference, Z, mover
from tests.meetings.surveys import Case, Meeting
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.studio.joint_pages import SITE, get

POINT, LIMIT, ZERO = 1e-5, 1e-3, 1e-12
FILES = {"survey.json", "reports.csv", "export.json"}

REASONS = (
    "was not asked of everybody, so that not every report gets a weight",
    "people said .*; leave this predictor out",
    "people gave some two answers to .* which are both public; leave this predictor out",
)
"""What a refusal may say."""

OF_FILES = (*REASONS, "few")
OF_ALL = ("low", "high", "std_error", "n")
"""Figures of a group that go with the number of all people."""
"""What a refusal of the files may say."""

PLACES = ("group", "from", "row", "column", "category", "term")
"""Keys of what a figure is about."""

Document = dict[str, Any]
Faults = Iterator[str]


def shown_reports(cells: Sequence[Sequence[int]], batch: int) -> list[int]:
    """Which state is shown after each close, given the cells (revision, wave, cohort) of each: the last one whose
    cells all stayed, or grew by a batch, since what was shown before.
    """
    found = [0]
    for place in range(1, len(cells)):
        grown = [later - before for later, before in zip(cells[place], cells[found[-1]], strict=True)]
        found.append(place if all(each == 0 or each >= batch for each in grown) else found[-1])
    return found


class Site:
    """The product with a database of its own, in an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.storage = folder, SQLiteStorage(folder / "sottovoce.sqlite")
        self.app = create_app(Settings(public_url=SITE), self.storage, now, {})
        self.browser = log_in(self.app)[0]
        token, digest = new_key()
        self.storage.add_researcher("program", digest)
        self.program = self.app.test_client()
        self.program.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {token}"

    def reopen(self, meeting: Meeting) -> Faults:
        """Close after each arrival; what is shown in between and after it must follow the rule."""
        self.storage.publish(meeting.survey)
        name, ends = meeting.survey.name, np.cumsum(meeting.arrivals)
        region = meeting.rows[:, 0] if meeting.survey.cohort is not None else np.zeros(len(meeting.rows), int)
        cells = [np.bincount(region[:end], minlength=int(region.max()) + 1).tolist() for end in ends]
        right = shown_reports(cells, meeting.survey.release_batch)
        for place, end in enumerate(ends):
            if place:
                self.storage.reopen_survey(name)
            send(self.storage, meeting.survey, meeting.reports[end - meeting.arrivals[place] : end])
            if place and (n := self.results(name)["reports"]) != ends[right[place - 1]]:
                yield f"reopened: {n} reports shown, should be {ends[right[place - 1]]}"
            self.storage.close_survey(name, TODAY)
            shown, n = ends[right[place]], self.results(name)["reports"]
            if n != shown:
                yield f"closed: {n} reports shown, should be {shown}"
            try:
                joint = StoredReports(self.storage, name, now).answer("pairs", {})["reports"]
            except SurveyError:
                joint = shown if right[place] != place else 0
            if joint != shown:
                yield f"closed: joint results of {joint} reports, should be {shown}"

    def hold(self, meeting: Meeting) -> None:
        self.storage.publish(meeting.survey)
        for wave in sorted({*meeting.waves}):
            send(self.storage, meeting.survey,
                 [row for row, of in zip(meeting.reports, meeting.waves, strict=True) if of == wave], wave)  # fmt: skip
        self.storage.close_survey(meeting.survey.name, TODAY)

    def files(self, meeting: Meeting) -> Path:
        folder = self.folder / meeting.survey.name
        if not folder.exists():
            folder.mkdir()
            given = source(self.storage, meeting.survey)
            for name, write in together(given):
                if name in FILES:
                    write(given, folder / name)
        return folder

    def results(self, name: str) -> Document:
        return dict(get(self.browser, f"{name}/results/export.json").json)

    def posted(self, name: str, case: Case) -> Document:
        data = json.dumps(case.options).encode()
        length = {"CONTENT_LENGTH": str(len(data))}
        return dict(self.program.post(f"/api/v1/surveys/{name}/{case.kind}", data=data, environ_overrides=length,
                                      content_type="application/json").json)  # fmt: skip

    def page(self, name: str, case: Case) -> str:
        """The words of the page; "" for what no page takes in this form."""
        room = "models" if case.kind == "regression" else "tables"
        lists = {key: value if isinstance(value, list) else [value] for key, value in case.options.items()}
        given = [(key, one) for key, value in lists.items() for one in value]
        if any(isinstance(value, dict) for _, value in given) or case.kind == "pairs":
            return ""
        query = "&".join(f"{key}={value}" for key, value in given)
        text = get(self.browser, f"{name}/{room}?kind={case.kind}&{query}").text
        return html.unescape(re.sub(r"\s+", " ", re.sub("<[^>]+>", "", text))).replace("\u2212", "-")


def same(one: Any, other: Any) -> bool:
    """Whether two documents agree, numbers to rounding."""
    if isinstance(one, float) and isinstance(other, float | int):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def percent(value: float) -> str:
    """A share as the pages write it."""
    return f"{100 * value:.1f}%"


def differs(what: str, row: Document, figure: Figure, bounds: tuple[float, float] = (0.0, 1.0)) -> Faults:
    """In what a printed row is not the reference's figure."""
    if figure.point is None:
        return
    shown = row.get("shown", row.get("clipped", row.get("estimate")))
    point = min(max(figure.point, bounds[0]), bounds[1])
    # Limits of coefficients are their errors times z, and so is what may be between two of them.
    far = Z * LIMIT if math.isinf(bounds[1]) else LIMIT
    told = (("point", shown, point, POINT), ("std_error", row.get("std_error"), figure.error, LIMIT),
            ("low", row.get("low"), figure.low, far), ("high", row.get("high"), figure.high, far))  # fmt: skip
    for key, printed, right, within in told:
        if right is not None and (printed is None or abs(printed - right) > within * max(1.0, abs(right))):
            shown_as = "none" if printed is None else f"{printed:.5f}"
            yield f"{what}: {key} {shown_as}, should be {right:.5f}"


def of_results(found: Document, own: Reference) -> Faults:
    """Shares of each question, of all arms together."""
    for question in found["questions"]:
        name = question["name"]
        if name not in own.channels or name == "arm":
            yield from of_number(question)
            continue
        part = question.get("answered", question)
        for row in part["estimates"]:
            if row["option"] in own.channels[name].names[: own.channels[name].answered]:
                figure, n = own.share(name, row["option"])
                if part is not question and figure.error is not None:
                    # Results have the variance of the channel, by n; tables that of the sample, by n - 1.
                    figure = replace(figure, error=figure.error * math.sqrt((n - 1) / n))
                of = "results of some" if own.asked_if[name] else "results"
                yield from differs(f"{of} {name}={row['option']}", row, figure)
                if n != part.get("n", row["n"] if part is question else n):
                    yield f"{of} {name}: n {part.get('n', row['n'])}, should be {n}"


def of_number(question: Document) -> Faults:
    """No limits beside bars of the square wave."""
    for bar in question.get("histogram", []):
        if bar.get("low") is not None or bar.get("high") is not None:
            yield f"results {question['name']}: limits beside a bar"
            return


def is_plain(own: Reference, name: str) -> bool:
    """Whether everybody is asked a question and answers it."""
    return own.channels[name].answered == len(own.channels[name].names) and not own.asked_if[name]


def rarest(own: Reference, *names: str) -> int:
    """The smallest number of reports of one answer of a public question, of those who were asked all."""
    rows, public = own.described(*names), [each for each in names if own.channels[each].public]
    sizes = [np.bincount(own.codes(each, rows)) for each in public]
    return min((int(each[each > 0].min()) for each in sizes), default=FEW)


def made_up(names: Sequence[str], known: Sequence[str]) -> Faults:
    for name in names:
        if name not in known and "+" in name:
            yield f"'{name}' is no answer of the survey"


def of_comparison(found: Document, own: Reference, options: Document) -> Faults:
    """Shares in groups, their differences, and n."""
    name, groups = options["outcome"], options["groups"]
    if "against" in options:
        yield from of_arms(found, own, options)
        return
    answer = options.get("category", own.channels[name].names[own.channels[name].answered - 1])
    known = own.channels[groups].names
    yield from made_up([row["group"] for row in found["values"]], known)
    n = int(own.paired(groups, name).sum())
    if found["n"] != n:
        yield f"compare {name} by {groups}: n {found['n']}, should be {n}"
    if not own.channels[groups].public:
        for row in found["values"]:
            yield from of_unknown(row, own, (groups, name), (row["group"], answer))
        return
    for row in found["values"]:
        if row["group"] in known:
            figure, _ = own.share(name, answer, {groups: row["group"]})
            yield from differs(f"compare {name} in {row['group']}", row, figure)
    first = found["values"][0]["group"]
    for row in found["differences"]:
        if {row["group"], first} <= {*known}:
            figure = own.difference(name, answer, groups, (first, row["group"]))
            yield from differs(f"difference of {name}, {row['group']} less {first}", row, figure, (-1.0, 1.0))


def of_unknown(row: Document, own: Reference, pair: tuple[str, str], place: tuple[str, str]) -> Faults:
    """The share of an answer among the people of a randomized group, of whom no report shows who they are."""
    _, raw, _ = own.table(*pair)
    group, answer = (own.channels[name].names.index(one) for name, one in zip(pair, place, strict=True))
    if raw[group].sum() > 0 and abs(row["raw"] - raw[group, answer] / raw[group].sum()) > POINT:
        yield f"{place} of {pair}: raw {row['raw']}, should be {raw[group, answer] / raw[group].sum():.5f}"


def of_arms(found: Document, own: Reference, options: Document) -> Faults:
    pair = [own.share(options[key], "yes") for key in ("against", "outcome")]
    n = sum(n for _, n in pair)
    if found["n"] != n:
        yield f"arms: n {found['n']}, should be {n}"
    if found["category"] != "yes":
        yield f"'{found['category']}' is no answer of the survey"
    for row, (figure, _) in zip(found["values"], pair, strict=True):
        yield from differs(f"arms {row['group']}", row, figure)
    if all(figure.point is not None for figure, _ in pair):
        yield from differs("arms: difference", found["differences"][0], mover(pair[0][0], pair[1][0]), (-1.0, 1.0))


def of_table(found: Document, own: Reference, options: Document) -> Faults:
    """Cells, shares in rows of public questions, the odds ratio, and n."""
    rows, columns = options["rows"], options["columns"]
    known = own.channels[rows].names
    yield from made_up(found["row_categories"], known)
    yield from made_up(found["column_categories"], own.channels[columns].names)
    if "margins" not in options:
        yield from of_cells(found, own, (rows, columns))
    for row in found["conditional"]:
        if own.channels[rows].public and row["row"] in known and row["shown"] is not None:
            figure, _ = own.share(columns, row["column"], {rows: row["row"]})
            yield from differs(f"{columns}={row['column']} in {row['row']}", row, figure)


def of_cells(found: Document, own: Reference, pair: tuple[str, str]) -> Faults:
    """Cells of a table and the odds ratio, by likelihood."""
    rows, columns = (own.channels[each].names for each in pair)
    plain = all(is_plain(own, each) for each in pair)
    # Of sets, which have more reported values than true ones, the product has the moments.
    square = all(own.channels[each].is_square for each in pair)
    exact = not any((own.channels[each].fact or (0, 0, 0))[2] for each in pair)
    apart = plain and exact and not own.blocks.keys() >= {*pair}
    best, raw, n = own.table(*pair)
    if found["n"] != n:
        yield f"table {pair}: n {found['n']}, should be {n}"
    # Cells of answers that are left out are empty.
    interior = raw[np.ix_(*(abs(raw.sum(axis=1 - axis)) > ZERO for axis in range(2)))].min() > 0
    for row in found["cells"]:
        if row["shown"] is not None and interior and row["row"] in rows:
            place = rows.index(row["row"]), columns.index(row["column"])
            limits = own.cell(raw, pair, place) if apart else (None, None)
            point = float((best if square else raw)[place])
            yield from differs(f"cell {row['row']}, {row['column']}", row, Figure(point, None, *limits))
    known = plain and exact and own.waves == 1
    ratio = found.get("odds_ratio", {}) if known and len(rows) == len(columns) == 2 else {}
    for end in ("low", "high"):
        if ratio.get(end) and ratio["estimate"] and abs(own.profile(*pair, ratio[end]) - Z**2) > 0.02:
            yield f"odds ratio of {pair}: {end} {ratio[end]} is not where the likelihood has its value"


def of_test(found: Document, own: Reference, options: Document) -> Faults:
    """A known share of yes: an exact binomial; where an innocuous share is not known exactly, p and limits agree."""
    name, share = options["question"], options["shares"]["yes"]
    figure, n = own.share(name, "yes")
    if found["n"] != n:
        yield f"test {name}: n {found['n']}, should be {n}"
    for row in found["values"]:
        if row["category"] == "yes":
            yield from differs(f"test {name}", row, figure)
    fact = own.channels[name].fact
    if fact is None or not fact[2]:
        right = own.exact_p(name, share)
        if abs(found["p"] - right) > LIMIT:
            yield f"test {name}={share}: p {found['p']}, should be {right:.5f}"
    elif figure.low is not None and figure.high is not None:
        margin = 0.05 * (figure.high - figure.low)
        if found["p"] < 0.05 and figure.low + margin < share < figure.high - margin:
            yield f"test {name}={share}: p {found['p']} within the limits {figure.low:.3f} to {figure.high:.3f}"


def of_pairs(found: Document, own: Reference, _: Document) -> Faults:
    """Tests of independence of pairs that are reported apart and by everybody who answers."""
    for row in found["pairs"]:
        pair = row["first"], row["second"]
        if all(each in own.channels and is_plain(own, each) for each in pair) and not own.blocks.keys() >= {*pair}:
            if rarest(own, *pair) < FEW and all(own.channels[each].public for each in pair):
                continue
            statistic, n = own.independence(*pair)
            if n != row["n"] or abs(statistic - row["statistic"]) > LIMIT * max(statistic, 1):
                yield f"pair {pair}: {row['statistic']:.4f} of {row['n']}, should be {statistic:.4f} of {n}"


def of_model(found: Document, own: Reference, options: Document) -> Faults:
    """Coefficients and average marginal effects of categories."""
    fitted = effects(own, options["outcome"], options["on"])
    # Without a finite maximum, also at a share that the fact may have, limits are those of likelihood ratios.
    unbounded = any(None in (row["low"], row["high"]) for row in found["coefficients"])
    if unbounded or not found["converged"] or max(abs(each.point) for each in fitted["coefficients"]) > 6:
        return
    n = int(modelled(own, options["outcome"], options["on"]).sum())
    if found["n"] != n:
        yield f"model {options}: n {found['n']}, should be {n}"
    for key in ("coefficients", "ame"):
        if len(found[key]) != len(fitted[key]):
            yield f"{key}: {len(found[key])} rows, should be {len(fitted[key])}"
            return
        for row, right in zip(found[key], fitted[key], strict=True):
            yield from differs(f"{key} {row['term']}", row, right, (-math.inf, math.inf))


CHECKS: dict[str, Callable[[Document, Reference, Document], Faults]] = {
    "compare": of_comparison, "crosstab": of_table, "test": of_test, "pairs": of_pairs, "regression": of_model,
}  # fmt: skip


def faults_of(meeting: Meeting, site: Site, all_ways: bool = True) -> tuple[list[str], int]:
    """What is wrong in a meeting, and how many of its requests were refused rightly."""
    if meeting.arrivals:
        return list(site.reopen(meeting)), 0
    site.hold(meeting)
    own, found, refused = Reference(meeting.survey, meeting.rows, waves=len({*meeting.waves})), [], 0
    results = site.results(meeting.survey.name)
    found += of_results(results, own)
    for case in meeting.cases:
        try:
            document = StoredReports(site.storage, meeting.survey.name, now).answer(case.kind, case.options)
        except SurveyError as error:
            refused += 1
            if not any(re.search(reason, str(error)) for reason in REASONS):
                found.append(f"{case.kind} {case.options}: refused: {error}")
            continue
        found += CHECKS[case.kind](document, reference_for(meeting, own, case), case.options)
        found += ways(meeting, site, case, document) if all_ways else ()
    return found, refused


def reference_for(meeting: Meeting, own: Reference, case: Case) -> Reference:
    """The reference of the reports that a request is about."""
    rows = meeting.rows
    if "wave" in case.options:
        return Reference(meeting.survey, rows[np.array(meeting.waves) == case.options["wave"]])
    for name, shares in case.options.get("margins", {}).items():
        codes = own.rows[name]
        known = np.array([shares[each] for each in own.channels[name].names])
        return Reference(meeting.survey, rows, (known / np.bincount(codes, minlength=len(known)))[codes] * len(rows))
    return own


def ways(meeting: Meeting, site: Site, case: Case, document: Document) -> Faults:
    """One answer in all ways: the interface, the page, and the files read back."""
    name = meeting.survey.name
    if not same(document, site.posted(name, case)):
        yield f"{case}: the interface answers otherwise"
    page = site.page(name, case)
    rows = document.get("values", []) if case.kind == "compare" else document.get("conditional", [])
    for row in rows if page else ():
        if row.get("shown") is not None and percent(row["shown"]) not in page:
            yield f"{case}: the page lacks {percent(row['shown'])}"
    try:
        back = open_results(site.files(meeting)).reports.answer(case.kind, case.options)
    except SurveyError as error:
        if not any(re.search(reason, str(error)) for reason in OF_FILES):
            yield f"{case}: the files refuse: {error}"
        return
    # In a file, a group that pages leave out is counted with others: points within the other groups stay.
    if any("are left out" in note for note in document.get("warnings", ())):
        outcome = case.options.get("columns", case.options.get("outcome"))
        public = any(each.name == outcome and each.mechanism is None for each in meeting.survey.questions)
        back, document = of_columns(back, document) if public else (
            {key: [{**row, **dict.fromkeys(OF_ALL)} for row in each.get(key, ())] for key in ("values", "conditional")}
            for each in (back, document)
        )  # fmt: skip
    for key in ("n", "values", "differences", "cells", "conditional", "p", "coefficients", "ame"):
        one, other = (by_place(each.get(key)) for each in (back, document))
        told = [place for place in one.keys() & other.keys() if not same(one[place], other[place])]
        if told:
            yield f"{case}: the files answer otherwise: {key} {told[0]} {one[told[0]]} for {other[told[0]]}"


def of_columns(*documents: Document) -> list[Document]:
    """Points within the rows of tables, among the people of the columns that all tables have."""
    every = [[row for row in each.get("conditional", ()) if row["raw"]] for each in documents]
    shared = set.intersection(*({(row["row"], row["column"]) for row in rows} for rows in every))
    found = []
    for rows in every:
        points = {(row["row"], row["column"]): row["raw"] for row in rows}
        whole = {name: sum(points[place] for place in shared if place[0] == name) for name, _ in shared}
        found.append({"conditional": [{"row": row, "column": column, "raw": points[row, column] / whole[row]}
                                      for row, column in sorted(shared)]})  # fmt: skip
    return found


def by_place(figures: Any) -> dict[Any, Any]:
    """Figures by what they are about, since a file has rare answers as one level, few."""
    if not isinstance(figures, list):
        return {"": figures}
    return {tuple(row.get(key) for key in PLACES): row for row in figures}
