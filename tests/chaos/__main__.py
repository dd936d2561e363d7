"""Kills everything below a gateway under load and checks all money afterwards: `make chaos`."""

import argparse
import random
import shlex
import signal
import sys
import time

from bench.report import write_between_markers
from gateway.run.options import PROJECT_DIR
from tests.chaos.faults import FAULTS, evenly_mixed
from tests.chaos.report import BEGIN
from tests.chaos.run import ALWAYS, HALF, NEVER, Plan, play

UNTOLD = ("--write", "--keep")
PAGE = PROJECT_DIR / "docs" / "chaos.md"


def say(text: str) -> None:
    """Print progress to standard error."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--kills", type=int, default=50, help="faults of all kinds, evenly mixed")
    parser.add_argument("--faults", nargs="+", choices=FAULTS, default=list(FAULTS), metavar="KIND", help="only these")
    parser.add_argument("--processes", type=int, default=2, help="servers of the gateway")
    parser.add_argument("--workers", type=int, default=2, help="worker processes of each server")
    parser.add_argument("--clients", type=int, default=32, help="clients that call at once, every other one in a hurry")
    parser.add_argument("--slow-disk", choices=(NEVER, HALF, ALWAYS), default=HALF, help="5 ms more for each flush")
    parser.add_argument("--patience", type=float, default=150.0, help="seconds that the jobs have afterwards")
    parser.add_argument("--seed", type=int, default=None, help="repeat the faults of another run")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/chaos.md")
    parser.add_argument("--keep", action="store_true", help="keep the run's logs and data, and say where")
    return parser.parse_args()


def plan_of(options: argparse.Namespace) -> Plan:
    """Build the plan from the command line."""
    seed = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    return Plan(
        seconds=options.minutes * 60,
        kinds=evenly_mixed(options.faults, options.kills, random.Random(seed)),
        seed=seed,
        processes=options.processes,
        workers=options.workers,
        clients=options.clients,
        slow_disk=options.slow_disk,
        patience_seconds=options.patience,
        command=shlex.join(["python", "-m", "tests.chaos", *(word for word in sys.argv[1:] if word not in UNTOLD)]),
        say=say,
    )


def main() -> int:
    """Run, print, and exit with 1 unless all verdicts are empty."""
    options = read_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("chaos: stopped"))
    plan = plan_of(options)
    say(f"seed {plan.seed}")
    report = play(plan, keep=options.keep)
    print(report.markdown())
    print(report.examples(), file=sys.stderr)
    if options.write:
        write_between_markers(PAGE, report.markdown(), begin=BEGIN)
    return 0 if report.is_clean else 1


if __name__ == "__main__":
    sys.exit(main())
