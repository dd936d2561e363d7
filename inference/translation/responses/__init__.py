"""Responses: `POST /responses`, its response objects and its typed events."""
