"""A stand-in for the payment provider's public HTTP API: a real server with customers, banks and webhooks of its own.

Start with `server.FakeStripe` in a test. What a test plays: server.py. How a request can go wrong: behaviours.py.
How events reach the platform: webhooks.py. The vendor's own clients for Python and Node.js prove it true.
"""

from tests.support.stripe.server import LIVE_SECRET_KEY, SECRET_KEY, FakeStripe

__all__ = ["LIVE_SECRET_KEY", "SECRET_KEY", "FakeStripe"]
