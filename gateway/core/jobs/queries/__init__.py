"""Reads what the jobs did."""
