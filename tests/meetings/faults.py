"""Eleven faults that meetings once had, each to be put back alone; `meeting.md` calls them by these numbers.

Each is put back where the product hands its figures on, by the formula that made them wrong.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis import requests, selection
from sottovoce.aggregator.analysis.tables.arm_comparison import compare_across_arms
from sottovoce.aggregator.analysis.weights import raked
from sottovoce.aggregator.export.results_client import sources
from sottovoce.shared.errors import EstimateError, SpecError
from sottovoce.shared.mechanisms.innocuous_rr import InnocuousRR

from tests.meetings import files
from tests.meetings.meet import Document, Site

Patch = pytest.MonkeyPatch
Changed = Callable[[Any, Any, Document], None]


def _answers(patch: Patch, kind: type[requests.Request], change: Changed) -> None:
    """Let a change have every document of a kind of request: it is given request, reports and document."""
    whole = kind._answer

    def answer(self: Any, columns: Any, weights: Any) -> Document:
        found = whole(self, columns, weights)
        change(self, columns, found)
        return found

    patch.setattr(kind, "_answer", answer)


def _results(patch: Patch, change: Callable[[Document], None]) -> None:
    whole = Site.results

    def results(self: Site, name: str) -> Document:
        found = whole(self, name)
        change(found)
        return found

    patch.setattr(Site, "results", results)


def join_rare(patch: Patch) -> None:
    """1: few admissions are joined with the denials, and taken for admissions."""

    def joined(*given: Any) -> Any:
        found = compare_across_arms(*given)
        first = found.values[0]
        if 0 < (first.raw or 0) * first.n_pair < 5 and found.parts == ():
            found = replace(found, values=(replace(first, raw=1.0, estimate=1.0), *found.values[1:]))
        return found

    patch.setattr(requests, "compare_across_arms", joined)


def derive_effects(patch: Patch) -> None:
    """2: the effect of a category is the derivative."""

    def change(_: Any, columns: Any, found: Document) -> None:
        if found.get("model") != "logit" or not found["converged"]:
            return
        beta = {row["term"]: row["estimate"] for row in found["coefficients"]}
        fitted = np.full(len(columns), beta["(constant)"])
        for term, slope in beta.items():
            name, _, category = term.partition("=")
            if category:
                fitted += slope * (columns.values[name] == int(category[1:]))
        mean = float((np.exp(fitted) / (1 + np.exp(fitted)) ** 2).mean())
        for row in found["ame"]:
            row["estimate"] = beta[row["term"]] * mean

    _answers(patch, requests.RegressionRequest, change)


def share_one_effect(patch: Patch) -> None:
    """3: Kish's design effect of all reports serves each group."""

    def change(asked: Any, columns: Any, found: Document) -> None:
        if asked.margins is None or asked.groups == "arm":
            return
        weights, groups = raked(columns, asked.margins).weights, columns.values[asked.groups]
        for row in found["values"]:
            inside = weights[groups == int(row["group"][1:])] if row["group"][1:].isdigit() else weights
            own = inside.sum() ** 2 / (inside @ inside)
            wider = math.sqrt(own / (inside.sum() / found["deff"])) if row["shown"] is not None else 1.0
            for end in ("low", "high") if row["shown"] is not None else ():
                row[end] = min(max(row["shown"] + (row[end] - row["shown"]) * wider, 0.0), 1.0)

    _answers(patch, requests.CompareRequest, change)


def know_innocuous(patch: Patch) -> None:
    """4: joint results take an innocuous share for exact."""
    for kind in requests.KINDS_OF_REQUEST.values():

        def answer(self: Any, columns: Any, weights: Any, whole: Any = kind._answer) -> Document:
            revisions = tuple(replace(each, questions=tuple(_exact(one) for one in each.questions))
                              for each in columns.revisions)  # fmt: skip
            return whole(self, replace(columns, revisions=revisions), weights)

        patch.setattr(kind, "_answer", answer)


def _exact(question: Any) -> Any:
    made = question.mechanism
    if not isinstance(made, InnocuousRR):
        return question
    return replace(question, mechanism=replace(made, std_error=Fraction(0)))


def limit_bars(patch: Patch) -> None:
    """5: bars of the square wave have limits."""

    def change(found: Document) -> None:
        for question in found["questions"]:
            for bar in question.get("histogram", []):
                bar["low"], bar["high"] = max(bar["clipped"] - 0.02, 0), min(bar["clipped"] + 0.02, 1)

    _results(patch, change)


def read_digits(patch: Patch) -> None:
    """7: item counts are digits alone."""
    whole = files.read_table

    def read(path: Path) -> Any:
        _, *lines = path.read_text(encoding="utf-8").splitlines()
        if not all(line.split(",")[0].isdigit() for line in lines):
            raise SpecError("must be a whole number from 0 to 21")
        return whole(path)

    patch.setattr(files, "read_table", read)


def refuse_ends(patch: Patch) -> None:
    """8: whether anybody at all says yes is not tested."""
    whole = requests.one_sample_test

    def test(columns: Any, name: str, known: Any, *given: Any) -> Any:
        if isinstance(known, Mapping) and {0, 1} & set(known.values()):
            raise EstimateError("a known share of 1 leaves nothing to test")
        return whole(columns, name, known, *given)

    patch.setattr(requests, "one_sample_test", test)


def count_unasked(patch: Patch) -> None:
    """9: shares are among all, those who were never asked included."""
    patch.setattr(selection, "_asked", lambda *_: (None, True))


def count_silent(patch: Patch) -> None:
    """10: n of a sentence about two arms has people whom one arm never asked."""

    def change(asked: Any, columns: Any, found: Document) -> None:
        if asked.against is not None:
            values = [columns.values[name] for name in (asked.outcome, asked.against)]
            found["n"] = int(sum((each != np.iinfo(each.dtype).max).sum() for each in values))

    _answers(patch, requests.CompareRequest, change)


def forget_shown(patch: Patch) -> None:
    """11: tables have every report after each close, and in between, whatever the results show."""
    patch.setattr(sources, "check_closed", lambda *_: None)


def join_codes(patch: Patch) -> None:
    """12: codes with one label are one answer."""
    whole = files.open_data

    def opened(*given: Any) -> Any:
        found = whole(*given)
        if given[0].suffix != ".sav":
            return found
        shares = [row["shown"] for row in found.shares("how").rows]
        rows = tuple({"shown": share} for share in (sum(shares[:2]), *shares[2:]))
        return type("Joined", (), {"shares": lambda *_: type("Rows", (), {"rows": rows})})()

    patch.setattr(files, "open_data", opened)


FAULTS: tuple[Callable[[Patch], None], ...] = (
    join_rare, derive_effects, share_one_effect, know_innocuous, limit_bars, read_digits, refuse_ends, count_unasked,
    count_silent, forget_shown, join_codes,
)  # fmt: skip
