#!/bin/sh
# Expected of a reader of .sav files: an answer left blank, the system's missing value, is no number, however the file is stored.
# Seen: of a compressed file the blank is left out of the row; of one that is not compressed, as pyreadstat writes it, the blank is the
# number -1.8e+308, which stands for it in the file. A mean of 1, 0 and a blank is -6e+307 in the place of .5.
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

people = pandas.DataFrame({f"q{number}": [1, 0, None] for number in range(8)})
for compressed in (False, True):
    pyreadstat.write_sav(people, f"{compressed}.sav", row_compress=compressed)
print("written by pyreadstat", version("pyreadstat"))
END
node - <<'END'
const { readFileSync } = require("fs");
const { SavBufferReader } = require("sav-reader");
(async () => {
  console.log("sav-reader", JSON.parse(readFileSync("node_modules/sav-reader/package.json")).version);
  const seen = [];
  for (const name of ["True.sav", "False.sav"]) {
    const file = new SavBufferReader(readFileSync(name));
    await file.open();
    const answers = (await file.readAllRows()).map((row) => row.q0).filter((answer) => answer != null);
    const mean = answers.reduce((sum, answer) => sum + answer, 0) / answers.length;
    console.log(name === "True.sav" ? "compressed:" : "not compressed:", answers, "mean", mean);
    seen.push(answers.length, mean);
  }
  process.exitCode = JSON.stringify(seen) === JSON.stringify([2, 0.5, 3, (1 - Number.MAX_VALUE) / 3]) ? 0 : 1;
})();
END
