"""Find the survey that a command names."""

from pathlib import Path

from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.connect import file_of
from sottovoce.cli.database import data_settings, open_storage
from sottovoce.shared.errors import StorageError
from sottovoce.shared.file_errors import did_you_mean


def open_survey(data: Path | None, name: str) -> Storage:
    """Open the database of a survey.

    Args:
        data: its folder, or None for the one in the settings.
        name: of the survey.

    Raises:
        StorageError: there is no database, or no such survey in it; the message suggests a similar name.
    """
    settings = data_settings(data)
    storage = open_storage(settings)
    known = sorted({row.name for row in storage.surveys()})
    if name not in known:
        similar = did_you_mean(name, known)
        where = f"{settings.data}/" if file_of(settings.database, settings.data) else "the database"
        raise StorageError(
            f'survey "{name}" was not found in {where}.{similar} Run "sottovoce survey list" to see what is there'
        )
    return storage
