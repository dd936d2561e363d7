"""Fault-injection tests: processes, connections and the database fail."""

from tests.support.stage_fixtures import db, gateway, stage, upstream  # noqa: F401
