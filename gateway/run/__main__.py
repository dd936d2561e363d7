"""`python -m gateway.run`: runs the gateway in the foreground."""

import ctypes
import os
import signal
import sys

from gateway.run.children import PR_SET_PDEATHSIG
from gateway.run.errors import StartError
from gateway.run.launch import Launch, say
from gateway.run.options import Options

# `make` waits for this process, so if it has gone, it was killed.
FOLLOW_PARENT = "--follow-parent"


def main(arguments: list[str]) -> int:
    """Run until a signal; return 0 after a clean stop, 1 after one line on standard error."""
    if FOLLOW_PARENT in arguments and sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    # Logs and similar files are readable only by their owner; directories that others must enter are opened explicitly.
    os.umask(0o077)
    try:
        Launch(Options.read(os.environ)).run()
    except StartError as error:
        say(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
