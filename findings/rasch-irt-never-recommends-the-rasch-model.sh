#!/bin/sh
# Expected of a comparison of models by BIC: answers made by a Rasch model are given a Rasch model, in most of the samples.
# Seen: one with a discrimination for every item is recommended in all four samples. The Rasch model is charged one parameter for each
# person, and the other integrates people out: 514 parameters are held against 30, and a BIC of 10,184 against 8,330 in the first
# sample. With people integrated out of both, BIC is lower for the Rasch model in every sample.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check rasch-irt==1.1.0 numpy==2.2.6 scipy==1.15.3
env/bin/python - <<'END'
from importlib.metadata import version

import numpy
from rasch_irt.irt import run_auto_fit
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

ITEMS, PEOPLE = 15, 500
nodes, masses = numpy.polynomial.hermite_e.hermegauss(31)
masses = numpy.log(masses / masses.sum())


def rasch_bic(answers):
    """Of difficulties and one spread of people, who are integrated out."""

    def loss(parameters):
        shares = expit(numpy.exp(parameters[-1]) * nodes - parameters[:-1, None])
        people = answers.T @ numpy.log(shares) + (1 - answers.T) @ numpy.log1p(-shares)
        return -logsumexp(people + masses, axis=1).sum()

    fit = minimize(loss, numpy.zeros(ITEMS + 1), method="L-BFGS-B")
    return 2 * fit.fun + (ITEMS + 1) * numpy.log(PEOPLE)


seen = []
for seed in range(4):
    draw = numpy.random.default_rng(seed)
    abilities, difficulties = draw.normal(size=PEOPLE), numpy.linspace(-2, 2, ITEMS)
    answers = (draw.random((ITEMS, PEOPLE)) < expit(abilities - difficulties[:, None])).astype(int)
    found = run_auto_fit(answers)
    bic = {model.model_type: model.bic for model in found.models}
    seen.append((found.recommended_model, bic[1] > bic[2] + 1000, rasch_bic(answers) < bic[2]))
    if seed == 0:
        print("rasch-irt", version("rasch-irt"), "BIC of its Rasch model and of two parameters:", bic[1], bic[2])
        print("Rasch model with people integrated out:", round(rasch_bic(answers), 2))
print("recommended parameters of an item in four samples:", [model for model, _, _ in seen])
raise SystemExit(seen != [(2, True, True)] * 4)
END
