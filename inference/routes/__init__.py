"""One folder a metered route, with all that is particular to it.

`route.py` names the parts; `request.py` checks what came, `bound.py` holds and counts, `stream.py` lays a stream out,
`openai` and `demo` are its endpoints, `reference.py` describes it, `view.py` is what the URLconf names.
"""
