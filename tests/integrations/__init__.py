"""Tests of the optional first-party integrations."""
