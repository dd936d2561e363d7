"""A fake of the payment provider's public HTTP API: a real server with its own customers, banks and webhooks.

Start it with `server.FakeStripe` in a test. server.py has a test's controls, behaviours.py the ways in which a request
can fail, webhooks.py the delivery of events. The vendor's own clients for Python and Node.js verify it.
"""

from tests.support.stripe.server import LIVE_SECRET_KEY, SECRET_KEY, FakeStripe

__all__ = ["LIVE_SECRET_KEY", "SECRET_KEY", "FakeStripe"]
