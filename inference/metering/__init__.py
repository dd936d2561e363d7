"""The metering core: admits a request, places its hold, sends it, and settles the call, releases it or leaves it to review.

It depends on no vendor and no route; `route.py` defines what a route provides.
"""
