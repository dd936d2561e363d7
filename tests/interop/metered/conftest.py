"""A gateway under real uvicorn, a fake upstream, and callers with money."""

from tests.support.stage_fixtures import db, gateway, stage, upstream  # noqa: F401
