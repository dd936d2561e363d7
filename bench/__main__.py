"""Compares the gateway with its peers: `make bench`, or `python -m bench --help`."""

import os
import shutil
import signal
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from bench.options import read_options
from bench.processes import ROOT
from bench.report import write_between_markers
from bench.run import Bench, say

BUSY_LOAD = 0.7
PAGE = ROOT / "docs" / "benchmarks.md"


def main() -> int:
    """Run, print, and exit with 1 if the charges were not exact."""
    options = read_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: stopped"))  # so that the servers are stopped cleanly
    _warn_if_busy()
    directory = Path(tempfile.mkdtemp(prefix="gateway-bench-"))
    try:
        with ExitStack() as stack:
            report = Bench(options, directory, stack).run()
    except BaseException:
        say(f"failed; the servers' logs are in {directory}")
        raise
    print(report.markdown())
    if options.json:
        options.json.write_bytes(report.json())
    if options.write:
        write_between_markers(PAGE, report.markdown())
    if options.keep:
        say(f"logs and data are in {directory}")
    else:
        shutil.rmtree(directory, ignore_errors=True)
    return 0 if report.is_exact() else 1


def _warn_if_busy() -> None:
    load = os.getloadavg()[0]
    if load > BUSY_LOAD:
        say(f"other work keeps this machine busy (load {load:.1f}): rates will be too low and latencies too high")


if __name__ == "__main__":
    sys.exit(main())
