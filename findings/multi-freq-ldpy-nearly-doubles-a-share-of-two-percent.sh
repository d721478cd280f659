#!/bin/sh
# Expected of estimates over many surveys: their mean is the true share, 2 %.
# Seen: each estimate is set to 0 where it is negative and all are made to sum to 1, so that the mean is about 3.7 %.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check multi-freq-ldpy==0.2.5 numpy==2.2.6 scipy==1.15.3 numba==0.61.2 xxhash==3.6.0 ray==2.60.0
env/bin/python -W ignore - <<'END'
from importlib.metadata import version

import numpy
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client

numpy.random.seed(1)
people = [1] * 4 + [0] * 196
shares = [GRR_Aggregator_MI([GRR_Client(answer, 2, 1.0) for answer in people], 2, 1.0)[1] for _ in range(2000)]
print("multi-freq-ldpy", version("multi-freq-ldpy"))
print(f"true share 2 %, mean of 2,000 estimates {100 * numpy.mean(shares):.1f} %")
raise SystemExit(bool(not 0.03 < numpy.mean(shares) < 0.045))
END
