"""Where verbs find the database."""

from pathlib import Path

from sottovoce.aggregator.settings import Settings
from sottovoce.cli.database import open_storage


def test_no_folder_is_made_where_none_is_used(tmp_path: Path) -> None:
    """A node whose database lies elsewhere may write nowhere."""
    settings = Settings(data=tmp_path / "data", database=f"sqlite:///{tmp_path}/elsewhere.sqlite")
    open_storage(settings, create=True).close()

    assert not (tmp_path / "data").exists()
