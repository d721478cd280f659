"""The audit of the curator's mechanisms judges planted ones rightly, and passes the honest."""

import json
import math
from fractions import Fraction
from importlib.resources import files

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from sottovoce.aggregator.curator.cluster import cluster
from sottovoce.aggregator.curator.noisy_max import noisy_max
from sottovoce.audit.curator import curator_checks
from sottovoce.audit.curator.curator_checks import curator_report, gaussian_check, judged, lloyd_check, winner_loss
from sottovoce.audit.curator.curator_ledger import check_ledger
from sottovoce.audit.curator.curator_loss import exact_delta, exact_loss, sampled_loss
from sottovoce.cli.main import main
from sottovoce.shared.exact_noise import ExactNoise

from tests.planted import curator as planted
from tests.vectors.tape import Tape

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
    assert document["checks"][0]["message"] == "the loss is inf at least, and 1.000 is claimed"


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


def test_lloyd_without_clipping_is_flagged_and_the_honest_one_passes():
    """One point at a corner of the cube, by a sampled lower bound."""
    guilty = lloyd_check(planted.lloyd_without_clipping, ExactNoise(Tape("guilty")), 500, 0.05)
    honest = lloyd_check(cluster, ExactNoise(Tape("honest")), 100, 0.05)

    assert (guilty.outcome, honest.outcome) == ("failed", "passed")
    assert "2.000 is claimed" in guilty.message


@pytest.mark.parametrize(("epsilon", "steps", "outcome"), [(12, 8, "failed"), (3, 4, "passed")])
def test_classic_sigma_is_flagged_where_it_is_too_small(epsilon, steps, outcome):
    """At epsilon 12 it fails, at epsilon 3 it is honest though nobody has proved it; delta 1e-6, by all branches."""
    variance = planted.classic_variance(epsilon, 1e-6, steps)

    assert gaussian_check("classic sigma", variance, steps, (epsilon, 1e-6)).outcome == outcome


@pytest.mark.parametrize("plant", [planted.shown_first, planted.shown_unsynced])
def test_ledger_that_charges_after_showing_is_flagged(plant):
    """A power cut leaves an answer that nobody was charged for; the running budget's own way never does."""
    assert check_ledger(plant).outcome == "failed"
    assert check_ledger().outcome == "passed"


def test_sampled_bound_of_equal_data_is_next_to_nothing():
    """And a difference that is always there is found, to what so many runs can show."""
    same = [0, 1] * 500

    assert sampled_loss((same, same), [bool], 0.05) == 0
    assert sampled_loss(([1] * 1000, [0] * 1000), [bool], 0.05) > 5


@pytest.mark.parametrize("place", [0, 3, 4])
@pytest.mark.parametrize("terms", [curator_checks.REPLACE, curator_checks.ADD])
def test_running_mechanism_costs_what_it_claims_and_no_less(place, terms):
    """Count, histogram and sum, from all branches of the running code."""
    check = curator_checks._exact(curator_checks.EXACT[place], terms)

    assert check.outcome == "passed"
    assert check.epsilon > 1.999


def test_verb_prints_every_check(monkeypatch):
    """With few pairs and few runs here; the exit code follows the verdict."""
    monkeypatch.setattr(curator_checks, "EXACT", curator_checks.EXACT[:1])

    shown = CliRunner().invoke(main, ["audit", "--curator", "--n", "20"])
    document = json.loads(CliRunner().invoke(main, ["audit", "--curator", "--n", "20", "--json"]).stdout)

    assert shown.exit_code == 0
    assert "passed: count, replace-one: 2.0000 of 2.0000 (every branch)" in shown.stdout
    SCHEMA.validate(document)
    assert document["format"] == "sottovoce-curator-audit/1"
    assert {check["outcome"] for check in document["checks"]} == {"passed"}


@pytest.mark.parametrize(
    "words", [["s.yaml", "--curator"], ["--curator", "--n", "1"], ["--curator", "--alpha", "2"], []]
)
def test_audit_of_nothing_is_refused(words):
    """A survey or --curator, and options that mean something."""
    assert CliRunner().invoke(main, ["audit", *words]).exit_code == 1
