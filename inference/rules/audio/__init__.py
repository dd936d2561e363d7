"""Measures the length of an audio file: its container's claim, checked against the frames."""
