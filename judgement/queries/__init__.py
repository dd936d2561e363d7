"""Reads of the judgement app."""
