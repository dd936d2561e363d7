"""Prints at the end of a test run what became of each route under each behaviour."""

from collections import defaultdict
from typing import Any

PROPERTY = "misbehaviour"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the table of what was observed, where anything was."""
    observed: dict[str, dict[str, str]] = defaultdict(dict)
    reports = [report for of_one_kind in terminalreporter.stats.values() for report in of_one_kind]
    for name, value in [each for report in reports for each in getattr(report, "user_properties", ())]:
        if name == PROPERTY:
            case, behaviour, outcome = value
            observed[case][behaviour] = outcome
    if observed:
        from tests.inference.misbehaviour.table import lines_of

        terminalreporter.section("what becomes of a call whose upstream misbehaves")
        for line in lines_of(observed):
            terminalreporter.write_line(line)
