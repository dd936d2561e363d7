"""Fault-injection tests: processes, connections and the database fail."""

from tests.faults.nodes import pair  # noqa: F401
from tests.support.stage_fixtures import db, gateway, stage, upstream  # noqa: F401
