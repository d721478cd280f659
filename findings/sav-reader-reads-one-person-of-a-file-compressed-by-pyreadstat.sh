#!/bin/sh
# Expected of a reader of .sav files: as many rows as the header says. In a compressed file a code of 0 stands for nothing and is skipped
# (PSPP's description of the format); pyreadstat fills up the codes of each person with it to a multiple of 8.
# Seen: after codes of 0 the reader takes the file for ended, without an error. Of 1,000 people who answered five questions it gives one,
# so that a share of half is 0. Of the same people in a file that is not compressed it gives all.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund --ignore-scripts sav-reader@2.0.8
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check pyreadstat==1.3.7 pandas==2.3.3 numpy==2.2.6
env/bin/python - <<'END'
from importlib.metadata import version

import pandas
import pyreadstat

people = pandas.DataFrame({f"q{number}": [0, 1] * 500 for number in range(5)})
for compressed in (False, True):
    pyreadstat.write_sav(people, f"{compressed}.sav", row_compress=compressed)
read = pyreadstat.read_sav("True.sav")[0]
print("pyreadstat", version("pyreadstat"), "compressed:", len(read), "people, share", read["q0"].mean())
END
node - <<'END'
const { readFileSync } = require("fs");
const { SavFileReader } = require("sav-reader");
(async () => {
  console.log("sav-reader", JSON.parse(readFileSync("node_modules/sav-reader/package.json")).version);
  const seen = [];
  for (const name of ["False.sav", "True.sav"]) {
    const file = new SavFileReader(name);
    await file.open();
    const rows = await file.readAllRows();
    const share = rows.reduce((sum, row) => sum + row.q0, 0) / rows.length;
    const kind = name === "True.sav" ? "compressed:" : "not compressed:";
    console.log(kind, rows.length, "of", file.meta.header.n_cases, "people, share", share);
    seen.push(file.meta.header.n_cases, rows.length, share);
  }
  process.exitCode = JSON.stringify(seen) === "[1000,1000,0.5,1000,1,0]" ? 0 : 1;
})();
END
