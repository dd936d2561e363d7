"""Measures the gateway beside its peers in one run: speed, memory, and whether the money is right.

`python -m bench --help` lists the options. Where to look: run.py is the whole story, lanes.py and gateway_lanes.py are
what is compared, revision.py checks out another commit to compare with, load.py sends, scenarios.py holds the special
situations, books.py compares the ledgers, ratios.py and report.py print.
"""
