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


def make_app() -> Gate:
    """The application of one worker, from the settings in the environment."""
    settings = prepare_worker()
    storage = open_worker_storage(settings)
    return Gate(create_app(settings, storage, now, assemble(), preview), settings, storage)


def prepare_worker() -> Settings:
    """Set this process up to serve; returns its settings."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # The writer must get its turn soon after each sync; and what is loaded by now stays, so it need not be searched.
    sys.setswitchinterval(0.001)
    gc.freeze()
    gc.set_threshold(5_000, 20, 20)
    return Settings.from_environment()


def open_worker_storage(settings: Settings) -> Storage:
    """The database, opened by the process that is going to use it."""
    return open_url(settings.database, settings.data)


def _end_with_parent() -> None:
    """A worker that outlived whoever looks after it would keep the address, and the next one could not start."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
