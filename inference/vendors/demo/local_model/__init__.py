"""An optional small model for the demo, all-MiniLM-L6-v2: `LOCAL_MODEL=true make run`.

Its weights come in a package of `requirements-local-model.txt`. While the setting `LOCAL_MODEL` is off, the other modules
are not imported and the packages are not needed. Callers use `serving`; the other modules are internal.
"""
