#!/bin/sh
# Expected of a generator of blanks of the kind MAR: they depend on answers that are seen, else they are MCAR. And asked for 30 % of
# blanks it makes about 30 %.
# Seen: MAR of type 2 makes the very blanks that MCAR of type 3 makes, without a word, and MAR of type 3, which says that it uses
# synthetic labels, those of MCAR type 2: none depends on an answer. MNAR of type 4 makes 8 % where 30 % are asked. Whoever compares
# imputations by them compares them under MCAR.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check missmecha-py==0.1.2 numpy==2.2.6 pandas==2.3.3 scipy==1.15.3 \
  scikit-learn==1.7.2 seaborn==0.13.2 ipython==8.37.0
MPLCONFIGDIR="$folder" env/bin/python - <<'END'
from importlib.metadata import version

import numpy
from missmecha import MissMechaGenerator

PEOPLE, RATE = 4000, 0.3
answers = numpy.random.default_rng(1).normal(size=(PEOPLE, 4))


def blanks(kind, number):
    made = MissMechaGenerator(mechanism=kind, mechanism_type=number, missing_rate=RATE, seed=1).fit_transform(answers.copy())
    return numpy.isnan(numpy.asarray(made, dtype=float))


def strongest(blank):
    """The greatest correlation of a column's blanks with any column of answers."""
    return max(abs(numpy.corrcoef(column, answer)[0, 1]) for column in blank.T for answer in answers.T if column.any())


made = {name: blanks(*name) for name in (("mcar", 2), ("mcar", 3), ("mar", 2), ("mar", 3), ("mar", 7), ("mnar", 4))}
print("missmecha-py", version("missmecha-py"))
for name, blank in made.items():
    print(*name, f"share of blanks {blank.mean():.2f}, strongest correlation with an answer {strongest(blank):.2f}")
same = [bool((made["mar", one] == made["mcar", other]).all()) for one, other in ((2, 3), (3, 2))]
print("MAR 2 as MCAR 3, MAR 3 as MCAR 2:", same)
chance, real = strongest(made["mar", 2]), strongest(made["mar", 7])
raise SystemExit(bool(same != [True, True] or chance > 0.06 or real < 0.5 or made["mnar", 4].mean() > 0.1))
END
