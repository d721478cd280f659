#!/bin/sh
# Expected of a writer of .sav, .dta and .xpt files: weights come back as they were written, or it refuses a type that it cannot write.
# Seen: decimals, which DuckDB makes of 1.2 in a query, are written as missing, each of them and without a word, and so is a time of day in
# a .sav file. Whole numbers and doubles beside them are right. Another writer, readstat-arrow, refuses decimals.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check svy-io==0.7.1 duckdb==2.0.1 polars==2.1.0 pyarrow==26.0.1 pyreadstat==1.3.7 pandas==2.3.3 numpy==2.2.6 readstat-arrow==2026.10.20.0
env/bin/python - <<'END'
from importlib.metadata import version

import duckdb
import pyreadstat
import readstat_arrow
from svy_io.sas import write_xpt
from svy_io.spss import write_sav
from svy_io.stata import write_dta

people = "(VALUES (1, 'f'), (0, 'm'), (1, 'm')) AS people(cheated, sex)"
table = duckdb.sql(f"SELECT cheated, CASE sex WHEN 'f' THEN 1.2 ELSE 0.8 END AS weight, TIME '09:30:00' AS began FROM {people}").pl()
print("svy-io", version("svy-io"), "duckdb", version("duckdb"), "read by pyreadstat", version("pyreadstat"))
print("written:", table["weight"].to_list())
blank = []
for write, read, name in (
    (write_sav, pyreadstat.read_sav, "people.sav"),
    (write_dta, pyreadstat.read_dta, "people.dta"),
    (write_xpt, pyreadstat.read_xport, "people.xpt"),
):
    columns = ["cheated", "weight"] + ["began"] * (name == "people.sav")
    write(table.select(columns), name)
    blank.append({column: int(count) for column, count in read(name)[0].isna().sum().items()})
    print(name, "of 3 people, missing:", blank[-1])
try:
    readstat_arrow.write_sav("other.sav", table.select("weight").to_arrow(), readstat_arrow.Metadata())
    refused = False
except TypeError as error:
    refused = True
    print("readstat-arrow", version("readstat-arrow"), error)
both = {"cheated": 0, "weight": 3}
raise SystemExit(blank != [{**both, "began": 3}, both, both] or not refused)
END
