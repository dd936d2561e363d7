"""Starts and stops a server process."""
