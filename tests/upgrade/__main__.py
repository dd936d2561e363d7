"""Replaces nodes under load, of this version or from another one: `python -m tests.upgrade`."""

import argparse
import shlex
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.revision import Source, resolve, worktree
from tests.support.fronts import KINDS
from tests.upgrade.run import Plan, play
from tests.upgrade.site import Version, this_version


def say(text: str) -> None:
    """Print progress to standard error."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.upgrade", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--restarts", type=int, metavar="N", help="restart nodes of this version in turn, N times")
    what.add_argument("--from", dest="old", metavar="REF", help="upgrade from this tag or commit, and go back")
    parser.add_argument("--front", choices=KINDS, default="haproxy", help="the proxy, with its file of deploy/proxies")
    parser.add_argument("--workers", type=int, default=1, help="server processes of each node")
    parser.add_argument("--seconds", type=float, default=20.0, help="of load between the steps of an upgrade")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="keep the run's logs and data, and say where")
    return parser.parse_args()


@contextmanager
def before(revision: str | None) -> Iterator[Version | None]:
    """Check the version before out, if there is one. It runs in this version's environment, as far as that has its requirements."""
    if revision is None:
        yield None
        return
    name = resolve(revision)
    with tempfile.TemporaryDirectory(prefix="gateway-before-") as folder:
        checkout = Path(folder) / "checkout"
        with worktree(name, checkout):
            yield Version(revision, Source(checkout, Path(sys.executable)))


def main() -> int:
    """Run, print, and exit with 1 unless there is no case."""
    options = read_options()
    is_over: list[int] = []

    def stop(number: int, frame: object) -> None:
        """End restarts after the next one, and judge what there is; at a second signal, or during an upgrade, at once."""
        if is_over or options.old:
            sys.exit("upgrade: stopped")
        is_over.append(number)

    signal.signal(signal.SIGTERM, stop)
    plan = Plan(options.front, options.workers, options.seed, options.seconds, options.keep, say, lambda: bool(is_over))
    command = shlex.join(["python", "-m", "tests.upgrade", *(word for word in sys.argv[1:] if word != "--keep")])
    with before(options.old) as old:
        report = play(plan, command, this_version(), old, options.restarts or 0)
    print(report.markdown())
    print(report.examples(), file=sys.stderr)
    return 0 if report.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
