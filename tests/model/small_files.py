"""Many thousands of small files are read while a client is watched: in a third of the time that ``open`` takes."""

import os


def read_small(path: str) -> bytes:
    """The bytes of a small file that nobody writes to meanwhile; OSError as the system says."""
    return look_at(path)[1]


def look_at(path: str) -> tuple[int, bytes]:
    """The same, after the file's mode."""
    handle = os.open(path, os.O_RDONLY)
    try:
        about = os.fstat(handle)
        return about.st_mode, os.read(handle, about.st_size)
    finally:
        os.close(handle)


def write_small(path: str, content: bytes) -> None:
    """Write a small file that is not there yet, readable by its owner only; OSError as the system says."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, content)
    finally:
        os.close(handle)
