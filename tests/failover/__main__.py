"""Promotes a standby again and again under load, and compares every receipt with the new primary: `python -m tests.failover`."""

import argparse
import os
import sys

import pytest

WAYS = ("synchronous", "asynchronous")


def main() -> int:
    """Run both ways of replication, one of them, or PostgreSQL under Patroni; return 0 if each kept what it promises."""
    parser = argparse.ArgumentParser(prog="python -m tests.failover", description=__doc__)
    parser.add_argument("--promotions", type=int, default=20, help="how often a standby is promoted (20)")
    parser.add_argument("--behind", type=float, default=1.5, help="seconds that an asynchronous standby lacks (1.5)")
    parser.add_argument("--only", choices=(*WAYS, "patroni"), help="the one way to run; Patroni only if it is named")
    options = parser.parse_args()
    os.environ |= {"PROMOTIONS": str(options.promotions), "BEHIND_SECONDS": str(options.behind)}
    chosen = ("-k", f"test_{options.only}") if options.only in WAYS else ()
    module = "disturbances" if options.only == "patroni" else "promotions"
    return int(pytest.main(["-n", "0", "-q", f"tests/failover/{module}.py", *chosen]))


if __name__ == "__main__":
    sys.exit(main())
