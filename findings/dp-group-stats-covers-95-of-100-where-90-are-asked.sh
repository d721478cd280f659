#!/bin/sh
# Expected of limits of a released mean at 90 %: the noise lies within them in 90 of 100 releases, and at 50 % in 50.
# Seen: in 95, and in 75. The share outside is halved for two sides and then looked up in a distribution that counts both sides
# already, so that limits are 30 % and 100 % wider than asked: log(2 / (1 - c)) noises in the place of log(1 / (1 - c)).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check dp-group-stats==0.1.2
env/bin/python - <<'END'
import math
import random
from importlib.metadata import version

from dp_group_stats.mechanisms import laplace_ci_half_width, laplace_noise

EPSILON, SENSITIVITY, PEOPLE, RELEASES = 1.0, 4.0, 100, 20_000
draw = random.Random(1)
noises = [laplace_noise(EPSILON, SENSITIVITY, rng=draw) / PEOPLE for _ in range(RELEASES)]
print("dp-group-stats", version("dp-group-stats"))
seen = []
for asked in (0.9, 0.5):
    half, _ = laplace_ci_half_width(EPSILON, SENSITIVITY, PEOPLE, confidence=asked)
    right = math.log(1 / (1 - asked)) * SENSITIVITY / EPSILON / PEOPLE
    covered = [sum(abs(noise) <= limit for noise in noises) / RELEASES for limit in (half, right)]
    seen.append((round(half / right, 2), round(covered[0], 2), round(covered[1], 2)))
    print(f"asked {asked:.0%}: half a width {half:.4f} covers {covered[0]:.1%}; {right:.4f} covers {covered[1]:.1%}")
raise SystemExit(seen != [(1.3, 0.95, 0.9), (2.0, 0.75, 0.5)])
END
