#!/bin/sh
# Expected of a column of days in pandas, made of Python's dates, written with fastparquet: the days.
# Seen: pandas 3 keeps such days in seconds, which are written as if they were milliseconds. There is no error. Every
# reader gives the first half hour of 1970, so that all people have one and the same day.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check fastparquet==2026.9.0 pandas==3.1.1 polars==2.1.0 duckdb==2.0.1
env/bin/python -W ignore - <<'END'
from datetime import date
from importlib.metadata import version

import duckdb
import pandas
import polars

days = [date(2026, 1, 1), date(2026, 11, 28)]
frame = pandas.DataFrame({"day": pandas.to_datetime(days)})
frame.to_parquet("days.parquet", engine="fastparquet")
seen = {
    "duckdb": [row[0].date() for row in duckdb.sql("SELECT day FROM 'days.parquet'").fetchall()],
    "polars": [cell.date() for cell in polars.read_parquet("days.parquet")["day"]],
}
print("fastparquet", version("fastparquet"), "pandas", version("pandas"), frame["day"].dtype)
print([str(day) for day in days], {reader: [*map(str, cells)] for reader, cells in seen.items()})
raise SystemExit(any(cells != [date(1970, 1, 1)] * 2 for cells in seen.values()))
END
