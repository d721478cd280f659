"""``reidentify``: three hospital tables, after Kearns and Roth; names, patients and diagnoses are invented."""

import json
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests import commands
from tests.commands import done, refused

run = partial(commands.run, "curator", "reidentify")

DIAGNOSES = "[heart, arthritis, lung, crohn, hiv, lyme, allergy, colitis, fracture, flu]"
EXACT = f"""\
format: sottovoce-data/1
record: one patient
columns:
  age: {{minimum: 50, maximum: 82, step: 1, centre: 60}}
  gender: {{categories: [male, female]}}
  zip: {{categories: ["19146", "19118", "19104", "19115", "19103", "19130"]}}
  smoker: {{categories: ["Y", "N"]}}
  diagnosis: {{categories: {DIAGNOSES}}}
"""
COARSE = f"""\
format: sottovoce-data/1
record: one patient
columns:
  age: {{categories: ["50-60", "60-70"]}}
  gender: {{categories: [male, female]}}
  zip: {{categories: ["191**"]}}
  smoker: {{categories: ["Y", "N"]}}
  diagnosis: {{categories: {DIAGNOSES}}}
"""
FIRST = """\
64,male,19146,Y,heart
61,female,19118,N,arthritis
67,male,19104,Y,lung
63,female,19146,N,crohn
69,male,19115,Y,lung
56,female,19103,N,hiv
52,male,19146,Y,lyme
59,male,19130,Y,allergy
55,female,19146,N,colitis
"""
SECOND = """\
50-60,female,191**,N,hiv
50-60,female,191**,N,lyme
50-60,female,191**,N,fracture
60-70,male,191**,Y,lung
60-70,male,191**,Y,lung
60-70,male,191**,Y,flu
"""


def coarse(row: str) -> str:
    """A row of the first table with the decade of its age and the beginning of its postal code."""
    age, gender, _, smoker, diagnosis = row.split(",")
    return f"{'50-60' if age < '60' else '60-70'},{gender},191**,{smoker},{diagnosis}"


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    rows = {"exact": FIRST.splitlines(), "coarse": [*map(coarse, FIRST.splitlines())], "second": SECOND.splitlines()}
    for name, lines in rows.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(["age,gender,zip,smoker,diagnosis", *lines]))
        (tmp_path / f"{name}.yaml").write_text(EXACT if name == "exact" else COARSE)
    return tmp_path


def told(*words: str | Path) -> dict[str, Any]:
    ended = done(run(*words, "--sensitive", "diagnosis", "--json"))
    return json.loads(ended.stdout)


def test_everybody_is_alone_in_the_exact_table(tables: Path) -> None:
    found = told(tables / "exact.csv", "--k", "2")

    assert (found["k"], found["alone"]) == (1, 9)
    assert {count: each["people"] for count, each in found["unique_in"].items()} == {"1": 9, "2": 9, "3": 9}
    assert found["unique_in"]["1"]["combinations"][0] == {"columns": ["age"], "k": 1, "alone": 9}
    assert found["one_value"] == {"sensitive": "diagnosis", "groups": 9, "people": 9, "l": 1}
    assert found["coarsening"]["people_in_smaller_groups"] == 0
    assert found["coarsening"]["columns"]["zip"] in {
        "left out",
        *(f"by its first {n} of 5 digits" for n in range(1, 5)),
    }


def test_coarse_table_is_two_anonymous(tables: Path) -> None:
    found = told(tables / "coarse.csv", "--k", "2")

    assert (found["k"], found["alone"]) == (2, 0)
    assert (found["one_value"]["people"], found["one_value"]["l"]) == (0, 2)
    assert set(found["coarsening"]["columns"].values()) == {""}
    assert told(tables / "second.csv")["k"] == 3


def test_two_anonymous_tables_together_name_a_diagnosis(tables: Path) -> None:
    """A woman in her fifties who was in both hospitals has the one diagnosis that both groups have."""
    found = told(tables / "coarse.csv", "--with", tables / "second.csv")

    # The women of 50-60 (2, of whom hiv is possible) and the men of 60-70 (3, of whom two have lung).
    assert found["joined"] == {"columns": ["age", "gender", "zip", "smoker"], "people": 5, "k": 1, "known": 3}
    words = run(tables / "coarse.csv", "--with", tables / "second.csv", "--sensitive", "diagnosis").output
    assert "The value of 3 people is known" in words
    assert "that they are in both; k is 1 then" in words


def test_group_with_one_value_is_told(tables: Path) -> None:
    """Everybody's is known, however large the group."""
    text = (tables / "second.csv").read_text().replace("flu", "lung")
    (tables / "second.csv").write_text(text)
    assert told(tables / "second.csv")["one_value"] == {"sensitive": "diagnosis", "groups": 1, "people": 3, "l": 1}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--public", "diagnosis"], "either public or sensitive"),
        (["--public", "age", "--public", "age"], "none named twice"),
        (["--public", "SECRET"], "is not declared"),
        (["--with", "exact.csv"], "'age' is declared in two ways"),
    ],
)
def test_wrong_options_are_told(tables: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str) -> None:
    """By the column's declared name."""
    monkeypatch.chdir(tables)
    ended = refused(run("coarse.csv", "--sensitive", "diagnosis", *words))
    assert message in ended.output
    assert "SECRET" not in ended.output


def test_coarsened_table_is_written_and_keeps_to_its_k(tables: Path) -> None:
    """Bands of round numbers and beginnings of codes; rows in order, so that their places tell nothing."""
    out = tables / "coarsened.csv"
    words = ["--k", "3", "--sensitive", "diagnosis", "--out", out]
    done(run(tables / "exact.csv", "--public", "age", "--public", "zip", *words))
    header, *rows = [line.split(",") for line in out.read_text(encoding="utf-8").splitlines()]

    assert header == ["age", "zip", "diagnosis"]
    assert rows == sorted(rows)
    sizes = Counter((age, zip_code) for age, zip_code, _ in rows)
    assert min(sizes.values()) >= 3
    assert sorted(diagnosis for _, _, diagnosis in rows) == sorted(line.split(",")[-1] for line in FIRST.splitlines())
    assert {age for age, _, _ in rows} == {"50 to 59", "60 to 69"}
    assert {code for _, code, _ in rows} == {"191**"}

    again = refused(run(tables / "exact.csv", *words))
    assert "coarsened.csv exists; name a new file" in again.output


def test_too_few_people_are_not_written(tables: Path) -> None:
    ended = refused(run(tables / "exact.csv", "--k", "10", "--sensitive", "diagnosis", "--out", tables / "few.csv"))
    assert "9 people would still be in groups smaller than 10; nothing was written" in ended.output
    assert not (tables / "few.csv").exists()
