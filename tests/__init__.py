"""Tests, which must not load numpy before this module."""

import os

# As the program and its process of analyses have it: a sum of 200,000 products has another last digit with two threads,
# and threads that wait for each other spin, on a machine that has other tests to run.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
