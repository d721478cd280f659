"""Folders of reports in a bucket: written, counted and analysed as on a disk, and never half there."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sottovoce.aggregator.export.offline.locations import Bucket
from sottovoce.cli.process import free_port
from sottovoce.shared.errors import StorageError

from tests.commands import run
from tests.unit.aggregator.analysis.closed_surveys import states

pytestmark = pytest.mark.slow

SERVER = Path(__file__).parent / ".venv" / "bin" / "moto_server"
"""Made by ``make slow``, in an environment of its own."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bucket")
    states(folder / "data").close()
    return folder / "data"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A bucket "surveys" in a pretended S3, which the environment's variables lead to."""
    from pyarrow import fs

    port = free_port()
    log = (tmp_path_factory.mktemp("moto") / "log").open("wb")
    variables = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "eu-central-1",
                 "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}  # fmt: skip
    with log, subprocess.Popen([str(SERVER), "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log) as server:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            found = fs.S3FileSystem(
                allow_bucket_creation=True,
                endpoint_override=variables["AWS_ENDPOINT_URL"],
                retry_strategy=fs.AwsStandardS3RetryStrategy(20),
            )
            found.create_dir("surveys")
            yield found
        server.terminate()


def files(store: Any, folder: str) -> list[str]:
    from pyarrow import fs

    found = store.get_file_info(fs.FileSelector(f"surveys/{folder}", recursive=True, allow_not_found=True))
    return sorted(each.path.removeprefix(f"surveys/{folder}/") for each in found if each.is_file)


def test_bucket_gives_the_live_results(store: Any, data: Path) -> None:
    address = "s3://surveys/exams/done"
    words = ["results", "export", "done", "--format", "parquet", "--out", address, "--data", str(data)]
    assert run(*words).exit_code == 0
    live = json.loads(run("results", "export", "done", "--data", str(data)).stdout)
    del live["journal"]
    table = ["--rows", "cheated", "--columns", "reason", "--json"]

    assert files(store, "exams/done") == ["manifest.json", "survey=done/revision=1/wave=0/part-0000.parquet"]
    for engine in ("numpy", "duckdb"):
        assert json.loads(run("results", "estimate", address, "--engine", engine).stdout) == live
    assert (
        run("results", "crosstab", "--from", address, *table).stdout
        == run("results", "crosstab", "done", "--data", str(data), *table).stdout
    )
    again = run(*words)
    assert (again.exit_code, "it was left as it is" in again.stderr) == (1, True)


def test_what_is_missing_or_changed_in_a_bucket_is_noticed(store: Any, data: Path) -> None:
    address = "s3://surveys/spoiled"
    assert run("results", "export", "done", "--format", "parquet", "--out", address, "--data", str(data)).exit_code == 0
    part = "surveys/spoiled/survey=done/revision=1/wave=0/part-0000.parquet"
    with store.open_output_stream(part) as file:
        file.write(b"PAR1")
    changed = run("results", "estimate", address)
    store.delete_file(part)
    missing, none, nowhere = (
        run("results", "estimate", address),
        run("results", "estimate", "s3://surveys/none"),
        run("results", "estimate", "s3://no/x"),
    )

    assert "is not the file that was exported" in changed.stderr
    assert "is missing: the manifest names it" in missing.stderr
    assert "has no manifest.json" in none.stderr
    assert [ended.exit_code for ended in (changed, missing, none, nowhere)] == [1] * 4
    assert "Traceback" not in nowhere.stderr


def test_half_a_folder_is_none(store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The manifest comes last, so that nothing counts what a machine that was cut off has left."""
    (tmp_path / "survey=a").mkdir()
    for name in ("manifest.json", "survey=a/part-0000.parquet", "survey=a/part-0001.parquet"):
        (tmp_path / name).write_bytes(b"x")
    copies = [shutil.copyfileobj]

    def cut_off(*streams: Any) -> None:
        if not copies:
            raise OSError
        copies.pop()(*streams)

    monkeypatch.setattr(shutil, "copyfileobj", cut_off)
    with pytest.raises(StorageError, match="cannot be written to"):
        Bucket("s3://surveys/half").take(tmp_path)

    assert "survey=a/part-0000.parquet" in files(store, "half")
    assert "manifest.json" not in files(store, "half")
    assert "has no manifest.json" in run("results", "estimate", "s3://surveys/half").stderr
