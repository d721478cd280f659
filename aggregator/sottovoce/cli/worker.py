"""Entry point of the server's worker process, which reads its settings from the environment."""

import gc
import multiprocessing
import os
import signal
import sys
import threading

from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.intake.asgi_gate import Gate
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.connect import open_url
from sottovoce.client.page import assemble, preview
from sottovoce.client.question_page import question_assets


def make_app() -> Gate:
    """Create the application of one worker, from the settings in the environment."""
    settings = prepare_worker()
    storage = open_worker_storage(settings)
    return Gate(create_app(settings, storage, now, lambda: assemble() | question_assets(), preview), settings, storage)


def prepare_worker() -> Settings:
    """Set this process up to serve; return its settings."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # The writer thread must run soon after each sync. Objects loaded by now live on: freeze them for the collector.
    sys.setswitchinterval(0.001)
    gc.freeze()
    gc.set_threshold(5_000, 20, 20)
    return Settings.from_environment()


def open_worker_storage(settings: Settings) -> Storage:
    """Open the database in the process that uses it: connections must not be shared across a fork."""
    return open_url(settings.database, settings.data)


def _end_with_parent() -> None:
    """End this worker with its parent: an orphan would keep the port, and the next server could not start."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
