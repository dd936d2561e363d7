"""Queries of the judgement app."""
