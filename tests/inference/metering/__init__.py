"""Tests of the metering core with a route that has nothing of a chat."""
