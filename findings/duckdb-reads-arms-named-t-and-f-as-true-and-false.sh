#!/bin/sh
# DuckDB 2.0.1 reads a CSV whose column of arms holds t (treated) and f (free), and one whose arms are t and c.
# Expected: both columns are text.
# Seen: the first is BOOLEAN; exported again it holds true and false.
# It matters where a group column goes through DuckDB before an analysis by group names.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check "duckdb==2.0.1"
cat > seen.py <<'PROGRAM'
from importlib.metadata import version
from pathlib import Path

import duckdb

Path("one.csv").write_text("arm,yes\nt,1\nf,0\nt,0\n")
Path("two.csv").write_text("arm,yes\nt,1\nc,0\nt,0\n")
kinds = []
for name in ("one.csv", "two.csv"):
    rows = duckdb.sql(f"SELECT typeof(arm), arm FROM read_csv({name!r})").fetchall()
    kinds.append(rows[0][0])
    print(name, rows)
print("duckdb", version("duckdb"))
assert kinds == ["BOOLEAN", "VARCHAR"]
print("Arms t and f become true and false; arms t and c stay text.")
PROGRAM
env/bin/python seen.py
