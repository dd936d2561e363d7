"""Compares the gateway with its peers in one run: speed, memory, and the correctness of charges.

`python -m bench --help` lists the options. run.py controls a run, lanes.py and gateway_lanes.py define what is
compared, revision.py checks out another commit to compare with, load.py generates load, scenarios.py has the special
scenarios, books.py compares the ledgers, ratios.py and report.py print.
"""

import gateway.demo.client  # noqa: F401 (makes the repository's own Python client importable)
