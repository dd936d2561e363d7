"""A fake OpenAI-compatible upstream: a real HTTP server with its own ledger.

Start it with `server.FakeUpstream` in a test, or `python -m tests.support.upstream` beside one. behaviours.py defines
how it responds, tokens.py how it counts, ledger.py what it records (also at GET /_ledger). Control routes: POST
/_script and POST /_reset.
"""

from tests.support.upstream.behaviours import LEAKS, PRESETS, Behaviour, leaked
from tests.support.upstream.ledger import Entry, Ledger
from tests.support.upstream.server import FakeUpstream, closed_port, mute_port

__all__ = [
    "LEAKS",
    "PRESETS",
    "Behaviour",
    "Entry",
    "FakeUpstream",
    "Ledger",
    "closed_port",
    "leaked",
    "mute_port",
]
