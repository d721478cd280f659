#!/bin/sh
# Expected of a weighted median of answers with blanks: blank, as numpy's median is, or that of the people who answered.
# Seen: wquantiles puts the blanks after the highest answer, with their weights, and counts on from there: with three blanks the
# median of seven answers is 2 in the place of 1. No error, no warning.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check wquantiles==0.6 numpy==2.2.6
env/bin/python - <<'END'
from importlib.metadata import version

import numpy
import wquantiles

answered = [1, 1, 1, 1, 2, 2, 5]
asked = answered + [numpy.nan] * 3


def median(answers):
    return round(float(wquantiles.median(numpy.array(answers, dtype=float), numpy.full(len(answers), 1.5))), 9)


print("wquantiles", version("wquantiles"))
print("answers", answered, "-> median", median(answered))
print("with three blanks -> median", median(asked), "; numpy's:", numpy.median(asked))
raise SystemExit((median(answered), median(asked)) != (1.0, 2.0))
END
