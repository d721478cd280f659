"""The audit of the curator's mechanisms judges planted ones rightly, and passes the honest."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from sottovoce.aggregator.curator.noisy_max import noisy_max
from sottovoce.aggregator.curator.release import Neighbours
from sottovoce.audit.curator import curator_checks
from sottovoce.audit.curator.curator_checks import (
    ENUMERATED,
    check_ledger,
    curator_report,
    delta_check,
    enumerated,
    judged,
    winner_loss,
)
from sottovoce.audit.curator.noise_branches import exact_delta, exact_loss

from tests.commands import refused, run
from tests.planted import curator as planted

SCHEMA = Draft202012Validator(
    json.loads(files("sottovoce.shared").joinpath("schema/curator-audit.schema.json").read_text(encoding="utf-8"))
)
ONE, HALF = Fraction(1), Fraction(1, 2)


def test_catastrophe_has_no_finite_loss_and_keeps_its_delta():
    """Flagged against epsilon 1, and not against (1, 1/1000), which is true."""
    first, second = (1, 0), (1, 1)

    assert exact_loss(planted.catastrophe, first, second) == math.inf
    assert exact_delta(planted.catastrophe, first, second, 1.0) == pytest.approx(1e-3, rel=1e-6)


def test_failed_audit_is_json_for_any_program():
    """The catastrophe mechanism through the report: flagged, and what is infinite is no number there."""
    loss = exact_loss(planted.catastrophe, (1, 0), (1, 1))
    document = json.loads(json.dumps(curator_report([judged("catastrophe", loss, 1.0)]), allow_nan=False))

    SCHEMA.validate(document)
    assert document["verdict"] == document["checks"][0]["outcome"] == "failed"
    assert document["checks"][0]["message"] == "the loss is inf at least, and 1 is claimed"


def test_noisy_maximum_of_too_small_a_scale_is_flagged_under_replace_one():
    """Scale 1/epsilon: nearly twice epsilon, by branches (two cells) and by summation (three); 2/epsilon passes."""

    def run(counts, draws):
        return noisy_max(counts, ONE, draws)

    by_branches = exact_loss(run, (2, 0), (1, 1), 1e-12)
    by_summation = winner_loss((30, 30, 0), (-1, -1, 1), ONE)

    assert judged("two cells", by_branches, 1.0).outcome == "failed"
    assert judged("three cells", by_summation, 1.0).outcome == "failed"
    assert by_summation == pytest.approx(2, abs=0.001)
    assert judged("half the rate", winner_loss((30, 30, 0), (-1, -1, 1), HALF), 1.0).outcome == "passed"


SOONER = {"grid of clusters": Fraction(12), "quantiles": Fraction(12)}
"""An epsilon with fewer likely answers than that of the audit, of the releases that take the longest."""


def verdicts(name, sooner=SOONER):
    """The outcome of each check of one enumerated release."""
    case = next(each for each in ENUMERATED if each.name == name)
    case = replace(case, epsilon=sooner.get(name, case.epsilon))
    return {check.subject.removeprefix(f"{name}, "): check.outcome for check in enumerated(case)}


BOTH = {"replace-one": "failed", "add/remove": "failed"}


@pytest.mark.parametrize("name", [case.name for case in ENUMERATED])
def test_honest_release_passes(monkeypatch, name):
    """And shows at least half of its claim, or it would not; two starts see the same noisy cells as fifty."""
    monkeypatch.setattr("sottovoce.aggregator.curator.clusters.cluster._STARTS", 2)
    assert set(verdicts(name).values()) == {"passed"}


@pytest.mark.slow
@pytest.mark.parametrize("name", SOONER)
def test_honest_release_passes_as_it_is_audited(name):
    assert set(verdicts(name, {}).values()) == {"passed"}


@pytest.mark.parametrize(
    ("name", "place", "plant"),
    [
        ("vector (Laplace)", "aggregator.curator.sum.add_laplace", planted.without_noise),
        ("vector (Laplace)", "aggregator.curator.sum.add_laplace", planted.half_laplace),
        ("vector (Laplace)", "audit.curator.curator_checks.vector", planted.vector_at_100_epsilon),
        ("vector (Gaussian)", "aggregator.curator.sum.add_gaussian", planted.without_noise),
        ("vector (Gaussian)", "aggregator.curator.sum.add_gaussian", planted.half_gaussian),
        ("names", "aggregator.curator.unknown_names.add_laplace", planted.without_noise),
        ("names", "aggregator.curator.unknown_names.threshold", lambda _rate, _delta: 2),
        ("quantiles", "aggregator.curator.noisy_max.noisy_max", planted.half_noisy_max),
        ("one cluster", "aggregator.curator.clusters.cluster.add_laplace", planted.quarter_laplace),
        ("one cluster", "aggregator.curator.clusters.cluster.cluster", planted.lloyd_without_clipping),
    ],
)
def test_planted_release_is_flagged_under_both_relations(monkeypatch, name, place, plant):
    """In the running code, and every check of the release fails."""
    monkeypatch.setattr(f"sottovoce.{place}", plant)

    assert verdicts(name) == BOTH


@pytest.mark.parametrize("plant", [planted.half_laplace, planted.quarter_laplace])
def test_clusters_with_less_noise_are_flagged_where_a_record_changes_its_cluster(monkeypatch, plant):
    """Two counts move, which one cluster cannot show."""
    monkeypatch.setattr("sottovoce.aggregator.curator.clusters.cluster.add_laplace", plant)

    assert verdicts("two clusters") == {"replace-one": "failed"}


def test_cluster_that_is_wrong_under_one_relation_is_flagged_under_it(monkeypatch):
    """Half of the noise where a record comes or goes."""
    monkeypatch.setattr("sottovoce.aggregator.curator.clusters.cluster.cluster", planted.cluster_wrong_under_add_remove)

    assert verdicts("one cluster") == {"replace-one": "passed", "add/remove": "failed"}


def test_neighbours_that_clip_to_the_same_are_an_error_of_the_check():
    """Whatever the noise: here none is needed, and none would be missed."""
    case = next(each for each in ENUMERATED if each.name == "vector (Laplace)")
    equal = {Neighbours.ADD_REMOVE: (np.array([[0, 0]]), np.array([[0, 0], [9, -9]]))}

    (check,) = enumerated(replace(case, pairs=equal))

    assert check.outcome == "failed"
    assert check.message.startswith("not tested")
    assert "error of this check" in check.message


def test_check_that_finds_less_than_half_of_its_claim_is_not_tested():
    assert "not tested" in judged("weak", 0.9, 2.0).message
    assert judged("enough", 1.0, 2.0).outcome == "passed"
    weak = delta_check("weak", lambda value, draws: value + draws.discrete_gaussian(100, 1), (0, 1), (1.0, 0.5))
    assert "not tested" in weak.message


@pytest.mark.parametrize(("epsilon", "steps", "too_small"), [(12, 8, True), (3, 4, False)])
def test_classic_sigma_is_flagged_where_it_is_too_small(epsilon, steps, too_small):
    """At epsilon 12 it fails, at epsilon 3 it is honest though nobody has proved it; delta 1e-6, by all branches."""
    variance = planted.classic_variance(epsilon, 1e-6, steps)

    def run(value, draws):
        return value + draws.discrete_gaussian(variance.numerator, variance.denominator)

    check = delta_check("classic sigma", run, (0, steps), (epsilon, 1e-6))
    assert ("is claimed" in check.message and "not tested" not in check.message) is too_small


@pytest.mark.parametrize("plant", [planted.shown_first, planted.shown_unsynced])
def test_ledger_that_charges_after_showing_is_flagged(plant):
    """A power cut leaves an answer that nobody was charged for; the running budget's own way never does."""
    assert check_ledger(plant).outcome == "failed"
    assert check_ledger().outcome == "passed"


def test_verb_flags_a_vector_without_noise(monkeypatch):
    monkeypatch.setattr(curator_checks, "ENUMERATED", [each for each in ENUMERATED if "Laplace" in each.name])
    monkeypatch.setattr("sottovoce.aggregator.curator.sum.add_laplace", planted.without_noise)

    shown = refused(run("audit", "--curator"))
    assert "failed: vector (Laplace), add/remove" in shown.stdout
    assert "The curator's mechanisms: failed." in shown.stdout


def test_verb_prints_every_check(monkeypatch):
    monkeypatch.setattr(curator_checks, "ENUMERATED", ENUMERATED[:1])

    shown = run("audit", "--curator")
    document = json.loads(run("audit", "--curator", "--json").stdout)

    assert shown.exit_code == 0
    assert "passed: count, replace-one: 2.0000 of 2.0000 (every branch)" in shown.stdout
    SCHEMA.validate(document)
    assert document["format"] == "sottovoce-curator-audit/1"
    assert {check["outcome"] for check in document["checks"]} == {"passed"}


@pytest.mark.parametrize("words", [["s.yaml", "--curator"], ["--curator", "--quick"], []])
def test_audit_of_nothing_is_refused(words):
    assert run("audit", *words).exit_code == 1
