"""The metering core: admits a request, places its hold, sends it, and settles, releases or leaves it to review.

It knows no vendor and no route; `route.py` says what a route tells it of itself.
"""
