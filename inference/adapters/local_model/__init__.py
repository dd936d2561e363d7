"""An optional small model, all-MiniLM-L6-v2, behind the demo: `LOCAL_MODEL=true make run`.

Its weights come in a package of `requirements-local-model.txt`. Nothing here is imported, and none of that package is needed,
while the setting `LOCAL_MODEL` is off. Callers use `serving`; the other modules are how it is done.
"""
