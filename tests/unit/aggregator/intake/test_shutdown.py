"""How a worker ends when it is told to."""

import subprocess
import sys

TOLD_EARLY = """
import signal, uvloop
from sottovoce.aggregator.intake.asgi_gate import Ending
loop = uvloop.new_event_loop()
# As the server does, before it runs the loop.
loop.add_signal_handler(signal.SIGTERM, loop.stop)
signal.raise_signal(signal.SIGTERM)
ending = Ending()
ending.begin = loop.stop
ending.listen(loop)
loop.run_forever()
print(ending.is_draining)
"""


def test_order_to_end_before_the_first_turn_is_obeyed() -> None:
    """Between the setting of its handlers and the loop's first turn, a worker's order is noted and not forgotten."""
    ended = subprocess.run([sys.executable, "-c", TOLD_EARLY], capture_output=True, text=True, timeout=20, check=True)
    assert ended.stdout.strip() == "True"
