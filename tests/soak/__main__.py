"""Runs everything at once for an hour and looks for what grows: `python -m tests.soak`."""

import argparse
import random
import shlex
import signal
import sys

from bench.report import write_between_markers
from gateway.run.options import PROJECT_DIR
from tests.chaos.__main__ import say
from tests.chaos.run import NEVER, Plan
from tests.soak.report import BEGIN
from tests.soak.run import play

UNTOLD = ("--write", "--keep")
PAGE = PROJECT_DIR / "docs" / "scale.md"
EXAMPLES = 5


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="the first quarter is the warm-up")
    parser.add_argument("--sample-seconds", type=float, default=60.0, help="between two samples")
    parser.add_argument("--nodes", type=int, default=1, help="each a server, a worker and a scheduler")
    parser.add_argument("--clients", type=int, default=16, help="clients that chat at once, every other one in a hurry")
    parser.add_argument("--pause", type=float, default=0.2, help="seconds that a client leaves between its calls")
    parser.add_argument("--patience", type=float, default=150.0, help="seconds that the jobs have afterwards")
    parser.add_argument("--seed", type=int, default=None, help="repeat the choices of another run")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/scale.md")
    parser.add_argument("--keep", action="store_true", help="keep the run's logs and data, and say where")
    return parser.parse_args()


def plan_of(options: argparse.Namespace) -> Plan:
    """Build the plan from the command line."""
    return Plan(
        seconds=options.minutes * 60,
        kinds=(),
        seed=random.SystemRandom().randrange(10**6) if options.seed is None else options.seed,
        processes=options.nodes,
        clients=options.clients,
        pause_seconds=options.pause,
        slow_disk=NEVER,
        patience_seconds=options.patience,
        command=shlex.join(["python", "-m", "tests.soak", *(word for word in sys.argv[1:] if word not in UNTOLD)]),
        say=say,
    )


def main() -> int:
    """Run, print, and exit with 1 if anything grows or the money is not right."""
    options = read_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("soak: stopped"))
    report = play(plan_of(options), sample_seconds=options.sample_seconds, keep=options.keep)
    sys.stdout.write(f"{report.markdown()}\n")
    for name, cases in report.cases.items():
        for case in cases[:EXAMPLES]:
            say(f"{name}: {case}")
    if options.write:
        write_between_markers(PAGE, report.markdown(), begin=BEGIN)
    return 1 if any(report.cases.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
