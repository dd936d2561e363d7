"""A backend inside the gateway, for first runs without a key: deterministic, and honest about itself in its output.

One file a route; `adapter.py` lists them.
"""

from inference.adapters.demo.adapter import DemoAdapter

__all__ = ["DemoAdapter"]
