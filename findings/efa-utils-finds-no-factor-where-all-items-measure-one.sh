#!/bin/sh
# Expected of a parallel analysis, which counts the eigenvalues of the answers' correlations that are above those of noise: 1 factor where
# ten items measure one thing with loadings of .7 each, 2 for two things, 4 for four.
# Seen: with the default extraction 0, 1 and 3. The matrix of correlations is given to the factor analysis as if it were the answers, so
# that correlations of correlations are counted, which have a dimension less. With extraction="components" it is 1, 2 and 4.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check efa-utils==0.8.6 factor-analyzer==0.5.1 numpy==1.26.4 pandas==2.3.3 \
  scipy==1.15.3 scikit-learn==1.5.2 statsmodels==0.14.6
env/bin/python -W ignore - <<'END'
from importlib.metadata import version

import numpy
import pandas
from efa_utils import parallel_analysis

PEOPLE, LOADING = 500, 0.7


def by_hand(answers):
    """Eigenvalues above 1.1 times the 99th percentile of those of noise, as the package counts them."""
    noise = numpy.random.default_rng(2)
    drawn = [numpy.linalg.eigvalsh(numpy.corrcoef(noise.normal(size=answers.shape).T))[::-1] for _ in range(100)]
    above = numpy.linalg.eigvalsh(numpy.corrcoef(answers.T))[::-1] > 1.1 * numpy.percentile(drawn, 99, axis=0)
    return int(numpy.argmin(above))


found = {}
for things, items in ((1, 10), (2, 6), (4, 5)):
    draw = numpy.random.default_rng(1)
    measured = numpy.repeat(draw.normal(size=(PEOPLE, things)), items, axis=1)
    answers = LOADING * measured + numpy.sqrt(1 - LOADING**2) * draw.normal(size=(PEOPLE, things * items))
    table = pandas.DataFrame(answers, columns=[f"item {number}" for number in range(things * items)])
    counts = []
    for extraction in ("minres", "components"):
        numpy.random.seed(1)
        said = parallel_analysis(table, list(table), k=50, print_graph=False, print_table=False, extraction=extraction)
        counts.append(said)
    found[things] = (*counts, by_hand(answers))
print("efa-utils", version("efa-utils"), "things measured: default, components, by hand:", found)
raise SystemExit(found != {1: (0, 1, 1), 2: (1, 2, 2), 4: (3, 4, 4)})
END
