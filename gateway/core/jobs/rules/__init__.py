"""Evaluates the runs of jobs."""
