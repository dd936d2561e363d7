"""The public vendor API over HTTP: one file a route, `adapter.py` lists them."""

from inference.adapters.openai.adapter import OpenAIAdapter

__all__ = ["OpenAIAdapter"]
