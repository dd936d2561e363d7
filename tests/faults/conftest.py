"""Tests that break things: processes, connections, the database."""

from tests.support.stage_fixtures import db, gateway, stage, upstream  # noqa: F401
