"""`python -m gateway.run`: runs the gateway in the foreground."""

import argparse
import ctypes
import errno
import os
import signal
import sys

from gateway.run.children import PR_SET_PDEATHSIG
from gateway.run.errors import StartError
from gateway.run.launch import Launch, say
from gateway.run.options import PARTS, Options
from gateway.version import VERSION

# What a traceback would not explain better.
DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


def main(arguments: list[str]) -> int:
    """Run until a signal; return 0 after a clean stop, 1 after one line on standard error."""
    given = _parser().parse_args(arguments)
    if given.follow_parent and sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    # Logs and similar files are readable only by their owner; directories that others must enter are opened explicitly.
    os.umask(0o077)
    try:
        options = Options.read(os.environ, given.only)
        _run(options)
    except StartError as error:
        say(str(error))
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gateway.run", description="Run the gateway until a signal.")
    parser.add_argument("--version", action="version", version=VERSION)
    parser.add_argument("--only", type=_parts, default=PARTS, help=f"run only these of: {','.join(PARTS)}")
    # `make` waits for this process, so if it has gone, it was killed.
    parser.add_argument("--follow-parent", action="store_true", help="end when the process that started this one does")
    return parser


def _parts(text: str) -> tuple[str, ...]:
    parts = tuple(text.split(","))
    if unknown := set(parts) - set(PARTS):
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown)) or 'nothing'}: choose from {','.join(PARTS)}")
    return parts


def _run(options: Options) -> None:
    """Run until a signal. Raises StartError, also if the disk fails."""
    try:
        Launch(options).run()
    except OSError as error:
        if error.errno not in DISK_ERRORS:
            raise
        raise StartError(f"Cannot write to the data directory {options.data_dir}: {error.strerror}.") from error


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
