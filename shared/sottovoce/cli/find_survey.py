"""Find the survey that a command names."""

from pathlib import Path

from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.connect import file_of
from sottovoce.cli.database import data_settings, open_storage
from sottovoce.shared.errors import StorageError
from sottovoce.shared.file_errors import did_you_mean


def open_survey(data: Path | None, name: str) -> Storage:
    """
    Open the database of a survey.

    Args:
        data: its folder, or None for the one in the settings.
        name: of the survey.

    Raises:
        StorageError: there is no database, or no such survey in it.
    """
    settings = data_settings(data)
    storage = open_storage(settings)
    check_survey(storage, settings, name)
    return storage


def check_survey(storage: Storage, settings: Settings, name: str) -> None:
    """
    Check that there is a survey of this name.

    Args:
        storage: the database.
        settings: name the folder of the database, for the message.
        name: of the survey.

    Raises:
        StorageError: there is none; the message suggests a similar name.
    """
    known = sorted({row.name for row in storage.surveys()})
    if name not in known:
        similar = did_you_mean(name, known)
        where = f"{settings.data}/" if file_of(settings.database, settings.data) else "the database"
        raise StorageError(
            f'survey "{name}" was not found in {where}.{similar} Run "sottovoce survey list" to see what is there'
        )
