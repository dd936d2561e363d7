"""Counts the pages of a PDF file within bounds of time and memory, whatever is in it."""

import subprocess
import sys
from pathlib import Path

from gateway.core.contract.errors import NotReady
from gateway.core.runtime.turns import Turns
from inference.adapters.pages.counter import NOT_ABLE

COUNTER = Path(__file__).with_name("counter.py")
COUNT_SECONDS = 10.0
"""How long a file may take, on a busy machine too: its process has less time of the processor."""

_turns = Turns("pages")


class UnreadablePdf(Exception):
    """A file that cannot be counted. The message says why, for its sender."""


async def count_pages(data: bytes, most: int) -> int:
    """Return the number of pages, at most one more than `most`. One file is counted at a time, and accounts take turns.

    Raises UnreadablePdf, or NotReady if no process could be started.
    """
    return await _turns.run(_count, data, most)


def _count(data: bytes, most: int) -> int:
    command = [sys.executable, "-I", "-X", "utf8", str(COUNTER), str(most)]
    try:
        counted = subprocess.run(
            command, input=data, capture_output=True, timeout=COUNT_SECONDS, env={}, cwd="/", check=False
        )
    except subprocess.TimeoutExpired as error:
        raise UnreadablePdf("it takes too long to read") from error
    except OSError as error:
        raise _not_ready(repr(error)) from error
    if counted.returncode == NOT_ABLE:
        raise _not_ready("pypdf cannot be loaded")
    told = counted.stdout.decode("ascii", "replace")
    if counted.returncode == 0 and told.isdigit() and told != "0":
        return int(told)
    raise UnreadablePdf("it is encrypted" if told == "encrypted" else "it cannot be read")


def _not_ready(cause: str) -> NotReady:
    return NotReady(headers={"Retry-After": "1"}, private=f"pages cannot be counted: {cause}")
