"""What the verbs write is for their user alone, and goes into the named file and nothing else."""

import stat
from pathlib import Path

import pytest

from tests.conftest import Running
from tests.journey.test_own_survey import invoke, serving


def run(folder: Path, *words: str, input: str = "") -> None:
    """Run a verb under a shell's usual umask, with which everybody may read what is written."""
    done = invoke(folder, *words, input=input)
    assert done.returncode == 0, done.stderr


def test_everything_that_is_written_is_for_its_user_alone(tmp_path: Path, running: Running) -> None:
    """Databases, their logs, backups, results, accounts, pages and ledgers, in folders that are there or not."""
    (tmp_path / "data").mkdir(mode=0o755)
    run(tmp_path, "respond", running.link, input="2\n2\n2\ny\n")
    for words in (
        ["new", "survey.yaml"],
        ["survey", "publish", "survey.yaml", "--data", "data"],
        ["survey", "publish", "survey.yaml", "--data", "new/data"],
        ["db", "backup", "saved.sqlite", "--data", "data"],
        ["db", "restore", "saved.sqlite", "--data", "restored"],
        ["db", "copy", "--to", "sqlite:///copied.sqlite", "--data", "data"],
        ["results", "export", "exam", "--out", "results.json", "--data", "data"],
        ["results", "export", "exam", "--format", "estimates.xlsx", "--out", "estimates.xlsx", "--data", "data"],
        ["survey", "privacy", "survey.yaml", "--html", "privacy.html"],
        ["survey", "page", "https://a.example", "--file", "page.html"],
        ["survey", "page", "https://a.example", "--folder", "host"],
    ):
        run(tmp_path, *words)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*") if path != tmp_path / "data"}

    assert {path.relative_to(tmp_path).parts[0] for path in modes} >= {
        "ledger", "survey.yaml", "data", "new", "saved.sqlite", "restored", "copied.sqlite", "results.json",
        "estimates.xlsx", "privacy.html", "page.html", "host",
    }  # fmt: skip
    # What a web server is to send is for everyone.
    public = {path: mode for path, mode in modes.items() if tmp_path / "host" in (path, *path.parents)}
    assert {path: mode for path, mode in public.items() if mode != (0o755 if path.is_dir() else 0o644)} == {}
    own = {path: mode for path, mode in modes.items() if path not in public}
    assert {path: mode for path, mode in own.items() if mode != (0o700 if path.is_dir() else 0o600)} == {}


def test_running_servers_database_is_for_its_user_alone(tmp_path: Path) -> None:
    """Also its log, and also in a folder that everybody may look into."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    run(tmp_path, "new", "survey.yaml")
    with serving(tmp_path, "survey.yaml", "--data", "data"):
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}

    assert modes["sottovoce.sqlite"] == modes["sottovoce.sqlite-wal"] == 0o600
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize(
    "words", [["results", "export", "exam", "--data", "data", "--out"], ["db", "backup", "--data", "data"],
              ["survey", "privacy", "survey.yaml", "--html"], ["new"],
              ["survey", "page", "https://a.example", "--file"]],
    ids=lambda words: words[0],
)  # fmt: skip
def test_no_verb_replaces_or_follows_a_link(tmp_path: Path, words: list[str]) -> None:
    run(tmp_path, "new", "survey.yaml")
    run(tmp_path, "survey", "publish", "survey.yaml", "--data", "data")
    for name, target in (("link", "kept"), ("loose", "nothing")):
        (tmp_path / "kept").write_text("mine")
        (tmp_path / name).symlink_to(tmp_path / target)
        refused = invoke(tmp_path, *words, name)
        assert refused.returncode == 1
        assert "Traceback" not in refused.stderr
        assert refused.stderr.count("\n") == 1
        assert (tmp_path / name).readlink() == tmp_path / target
    assert (tmp_path / "kept").read_text() == "mine"
    assert not (tmp_path / "nothing").exists()
