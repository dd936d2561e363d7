"""One folder per metered route, with what a client sees of it and pays.

`request.py` validates the request, `bound.py` computes its hold and usage, `stream.py` is its stream format, `reference.py`
describes it. `route.py`, with the view, names the parts and the endpoints that serve the route.
"""
