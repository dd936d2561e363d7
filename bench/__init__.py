"""Measures the gateway beside its peers in one run: speed, memory, and whether the money is right.

`python -m bench --help` lists the options. Where to look: lanes.py is what is compared, load.py sends,
scenarios.py holds the special situations, books.py compares the ledgers, report.py prints.
"""
