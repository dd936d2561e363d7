"""Tests of observations from outside, over real sockets."""

from tests.support.observed import observed  # noqa: F401
from tests.support.stage_fixtures import db, gateway, stage, upstream  # noqa: F401
