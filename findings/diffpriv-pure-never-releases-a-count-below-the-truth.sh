#!/bin/sh
# Expected of a count with geometric noise for pure differential privacy: noise to both sides, so that the mean of many releases
# is the count.
# Seen: the noise is 0 or more. Forty admissions are 40 or more in each of 20,000 releases, by .58 too many on average at
# epsilon 1 and by 9.5 at .1; a release of 3 then says that at most 3 people admitted it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check diffpriv-pure==0.1.0
env/bin/python - <<'END'
import random
from importlib.metadata import version

from diffpriv_pure import private_count

random.seed(1)
released = {epsilon: [private_count(40, epsilon) for _ in range(20_000)] for epsilon in (1.0, 0.1)}
means = {epsilon: sum(counts) / len(counts) for epsilon, counts in released.items()}
smallest = min(min(counts) for counts in released.values())
print("diffpriv-pure", version("diffpriv-pure"))
print("mean release of 40 by epsilon:", means, "smallest:", smallest)
raise SystemExit(not (smallest == 40 and 40.5 < means[1.0] < 40.7 and 49 < means[0.1] < 50))
END
