"""Tests of live sessions from outside, over real sockets."""

from tests.support.stage_fixtures import db, gateway, stage, upstream  # noqa: F401
