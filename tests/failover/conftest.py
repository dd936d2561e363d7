"""The suite's fixtures that the measurement uses, and its table."""

from typing import Any

from tests.failover.figures import measured, table_of
from tests.faults.nodes import pair  # noqa: F401
from tests.support.stage_fixtures import db, upstream  # noqa: F401


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the figures, also those of a run that failed."""
    if measured:
        terminalreporter.write_line(table_of(measured))
