"""A verdict is kept by the bytes that it is about, and by nothing else."""

from collections.abc import Callable
from functools import partial
from importlib.resources.abc import Traversable
from pathlib import Path

import pytest
from sottovoce.audit import kept_verdicts
from sottovoce.audit.check import FAILED, PASSED, Check
from sottovoce.audit.kept_verdicts import cache_folder, fingerprint, kept_or_found
from sottovoce.client import page


def found(outcome: str) -> Check:
    """Of whatever was looked at."""
    return Check("python", "a device's life", outcome, scope="17 courses")


def fail() -> Check:
    """What must not be called."""
    raise AssertionError("it was looked at again")


def test_passed_verdict_is_found_again(tmp_path: Path) -> None:
    """For the same question and files, and it says so."""
    kept_or_found("python", "3 events", lambda: found(PASSED), tmp_path)
    again = kept_or_found("python", "3 events", fail, tmp_path)

    assert again.outcome == PASSED
    assert again.scope.startswith("17 courses; found before for these very files (SHA-256 ")


def test_other_question_or_files_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of what was kept for others counts."""
    kept_or_found("python", "3 events", lambda: found(PASSED), tmp_path)

    assert kept_or_found("python", "4 events", lambda: found(FAILED), tmp_path).outcome == FAILED
    monkeypatch.setattr(kept_verdicts, "fingerprint", lambda _language: "others")
    assert kept_or_found("python", "3 events", lambda: found(FAILED), tmp_path).outcome == FAILED


def test_failure_is_never_kept_and_damage_is_no_verdict(tmp_path: Path) -> None:
    """Also where somebody wrote a file of the right name."""
    assert kept_or_found("python", "3 events", lambda: found(FAILED), tmp_path).outcome == FAILED
    assert list(tmp_path.iterdir()) == []

    kept_or_found("python", "3 events", lambda: found(PASSED), tmp_path)
    [path] = tmp_path.iterdir()
    for damage in ("", "{}", "[1]", path.read_text(encoding="utf-8").replace(PASSED, FAILED)):
        path.write_text(damage, encoding="utf-8")
        assert kept_or_found("python", "3 events", lambda: found(FAILED), tmp_path).outcome == FAILED


def test_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    """The work is done again."""
    (tmp_path / "file").write_text("", encoding="utf-8")

    for _ in range(2):
        assert kept_or_found("python", "3 events", lambda: found(PASSED), tmp_path / "file").scope == "17 courses"


def test_fingerprint_is_of_every_file_of_the_client_in_its_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One more byte anywhere in a client is another client; the other language's files are none of it."""
    folder = tmp_path / "client"
    folder.mkdir()
    monkeypatch.setattr(kept_verdicts, "files", lambda _package: folder)
    seen: dict[str, list[str]] = {"python": [], "javascript": []}
    for name, content in (
        ("respondent.html", "1"),
        ("respondent.html", "2"),
        ("a.py", "1"),
        ("a.py", "2"),
        ("b.js", "1"),
        ("b.js", "2"),
        ("c.pyc", "not a source"),
    ):
        (folder / name).write_text(content, encoding="utf-8")
        monkeypatch.setattr(kept_verdicts, "PACKAGES", (kept_verdicts.CLIENT,))
        for language, found in seen.items():
            found.append(fingerprint.__wrapped__(language))

    assert [seen["python"].count(each) for each in seen["python"]] == [1, 1, 1, 4, 4, 4, 4]
    assert [seen["javascript"].count(each) for each in seen["javascript"]] == [1, 3, 3, 3, 1, 2, 2]


def test_agreement_and_audit_count_for_both_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever their files are written in."""
    for name in ("a.py", "b.mjs", "c.js"):
        before = {language: fingerprint.__wrapped__(language) for language in ("python", "javascript")}
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_text("", encoding="utf-8")
        monkeypatch.setattr(kept_verdicts, "PACKAGES", (*kept_verdicts.PACKAGES, name))
        monkeypatch.setattr(kept_verdicts, "files", partial(_one_more, folder, kept_verdicts.files))
        assert all(fingerprint.__wrapped__(language) != before[language] for language in before)


def _one_more(folder: Path, files: Callable[[str], Traversable], package: str) -> Traversable:
    return folder if package == folder.name else files(package)


def test_scripts_count_as_they_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python code makes the scripts that run: what it makes is in the fingerprint, and in that of no other language."""
    before = {language: fingerprint.__wrapped__(language) for language in ("python", "javascript")}
    assert kept_verdicts.scripts() == page.opened()
    monkeypatch.setattr(kept_verdicts, "scripts", lambda: {"first.js": "other"})

    assert fingerprint.__wrapped__("python") == before["python"]
    assert fingerprint.__wrapped__("javascript") != before["javascript"]


def test_cache_is_where_the_system_has_it() -> None:
    """In the home folder where nothing is said."""
    assert cache_folder({"XDG_CACHE_HOME": "/c"}) == Path("/c/sottovoce/audit")
    assert cache_folder({"LOCALAPPDATA": "/l"}) == Path("/l/sottovoce/audit")
    assert cache_folder({}) == Path.home() / ".cache/sottovoce/audit"
