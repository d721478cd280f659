#!/bin/sh
# Expected of a vector of eight answers packed by numpy, of which only the first is 1: an estimate near 1 in the first place.
# Seen: it stands in the last place. Within each byte the order is the reverse of the one that packbits makes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check opendp==0.16.0 numpy==2.2.6
env/bin/python -W ignore - <<'END'
from importlib.metadata import version

import numpy
import opendp.prelude as dp

dp.enable_features("contrib")
device = dp.m.make_randomized_response_bitvec(dp.bitvector_domain(max_weight=4), dp.discrete_distance(), f=0.01)
packed = numpy.packbits([1, 0, 0, 0, 0, 0, 0, 0]).tobytes()
reports = [device(packed) for _ in range(300)]
estimates = numpy.array(dp.m.debias_randomized_response_bitvec(reports, 0.01)) / len(reports)
print("opendp", version("opendp"))
print("first of eight answers is 1, estimates:", estimates.round(2).tolist())
raise SystemExit(int(estimates.argmax()) != 7)
END
