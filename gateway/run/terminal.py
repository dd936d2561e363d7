"""Prints to whoever started the gateway, as long as somebody reads it."""

import errno
import os
from pathlib import Path
from typing import TextIO

# A pipe without a reader, and a terminal that was closed.
READER_GONE = (errno.EPIPE, errno.EIO)


def print_line(text: str, stream: TextIO) -> None:
    """Print a line without buffering. Once nobody reads the stream any more, nothing is printed to it: at a Ctrl-C, the `tee`
    of `make run | tee log` ends at once, and the gateway has to stop in order all the same.
    """
    try:
        print(text, file=stream, flush=True)
    except OSError as error:
        if error.errno not in READER_GONE:
            raise
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
