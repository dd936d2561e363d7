"""Tests of the metering core with a route that is unlike chat."""
