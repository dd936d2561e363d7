"""Kills nodes at random under load, and checks that their calls are closed in time and all money is right: `python -m tests.nodes`."""

import argparse
import os
import random
import shlex
import signal
import sys
from collections import Counter
from collections.abc import Mapping, Sequence

from bench.report import write_between_markers
from bench.tables import table
from gateway.run.options import PROJECT_DIR
from tests.chaos.__main__ import say
from tests.chaos.faults import evenly_mixed
from tests.chaos.journal import CALL
from tests.chaos.report import EXAMPLES, Report
from tests.chaos.run import NEVER, Plan
from tests.nodes.deaths import Orphan
from tests.nodes.run import KILLS, play

BEGIN = "<!-- measured: written by `python -m tests.nodes` with --write -->"
PAGE = PROJECT_DIR / "docs" / "chaos.md"
UNTOLD = ("--write", "--keep")

CLOSED_WITHIN_SECONDS = 45.0
LATE = f"Calls of killed servers that were open for more than {CLOSED_WITHIN_SECONDS:.0f} s"
NOT_JUDGED = ("Clients without an answer", "Processes and routes not back")


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.nodes", description=__doc__)
    parser.add_argument("--nodes", type=int, default=10, help="each a server, a worker and a scheduler")
    parser.add_argument("--kills", type=int, default=100, help="of servers, workers and whole nodes, evenly mixed")
    parser.add_argument("--minutes", type=float, default=10.0, help="of load; the last kill is 50 s before its end")
    parser.add_argument("--clients", type=int, default=32, help="clients that call at once")
    parser.add_argument("--pause", type=float, default=0.1, help="seconds that a client leaves between its calls")
    parser.add_argument("--patience", type=float, default=150.0, help="seconds that the jobs have afterwards")
    parser.add_argument("--seed", type=int, default=None, help="repeat the kills of another run")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/chaos.md")
    parser.add_argument("--keep", action="store_true", help="keep the run's logs and data, and say where")
    return parser.parse_args()


def plan_of(options: argparse.Namespace) -> Plan:
    """Build the plan from the command line."""
    seed = random.SystemRandom().randrange(10**6) if options.seed is None else options.seed
    return Plan(
        seconds=options.minutes * 60,
        kinds=evenly_mixed(KILLS, options.kills, random.Random(seed)),
        seed=seed,
        processes=options.nodes,
        clients=options.clients,
        pause_seconds=options.pause,
        slow_disk=NEVER,
        patience_seconds=options.patience,
        command=shlex.join(["python", "-m", "tests.nodes", *(word for word in sys.argv[1:] if word not in UNTOLD)]),
        say=say,
    )


def judged(report: Report, orphans: Sequence[Orphan]) -> dict[str, Sequence[str]]:
    """Return the cases of every verdict."""
    late = [
        f"{each.usage_id} of {each.node} ({each.stage}): {each.seconds and round(each.seconds, 1)} s"
        for each in orphans
        if each.seconds is None or each.seconds > CLOSED_WITHIN_SECONDS
    ]
    return {LATE: late, **{name: cases for name, cases in report.cases.items() if not name.startswith(NOT_JUDGED)}}


def render(report: Report, orphans: Sequence[Orphan], cases: Mapping[str, Sequence[str]]) -> str:
    """Render the whole run."""
    made, journal = report.conditions, report.evidence.journal
    kills = Counter(each.kind for each in journal.disturbances)
    seconds = sorted(each.seconds for each in orphans if each.seconds is not None)
    outcomes = Counter(attempt.code or attempt.outcome for attempt in journal.of(CALL))
    opening = (
        f"`{made.command}` with seed {made.seed}, on {os.cpu_count()} cores: {made.seconds:.0f} s of load on "
        f"{made.processes} nodes, {kills.total()} kills ({_listed(kills)}), {len(journal.attempts):,} requests, "
        f"{len(report.evidence.calls):,} calls in the ledger ({_listed(Counter(c.state for c in report.evidence.calls.values()))})."
    )
    rows = [
        ["calls that killed servers had open", f"{len(orphans):,}"],
        ["how far they had come", _listed(Counter(each.stage for each in orphans))],
        ["how they were closed first", _listed(Counter(each.state or "open" for each in orphans))],
        ["seconds until then, median", f"{seconds[len(seconds) // 2]:.1f}" if seconds else "-"],
        ["seconds until then, longest", f"{seconds[-1]:.1f}" if seconds else "-"],
        ["what clients got", _listed(outcomes)],
    ]
    verdicts = table(["What must not happen", "Cases"], [[name, f"{len(found):,}"] for name, found in cases.items()])
    return "\n\n".join([opening, verdicts, table(["Of these nodes", ""], rows)])


def _listed(counted: "Counter[str]") -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counted.most_common()) or "none"


def main() -> int:
    """Run, print, and exit with 1 unless all verdicts are empty."""
    options = read_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("nodes: stopped"))
    plan = plan_of(options)
    say(f"seed {plan.seed}")
    report, orphans = play(plan, keep=options.keep)
    cases = judged(report, orphans)
    text = render(report, orphans, cases)
    sys.stdout.write(f"{text}\n")
    for name, found in cases.items():
        for case in found[:EXAMPLES]:
            say(f"{name}: {case}")
    if options.write:
        write_between_markers(PAGE, text, begin=BEGIN)
    return 1 if any(cases.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
