"""Reads the runs of jobs."""
