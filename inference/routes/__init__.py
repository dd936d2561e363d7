"""One folder per metered route, with everything specific to it.

`route.py` names the parts; `request.py` validates the request, `bound.py` computes its hold and usage, `stream.py` is
its stream format, `openai` and `demo` are its endpoints, `reference.py` describes it, `view.py` is its view.
"""
