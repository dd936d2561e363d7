"""Boots a machine with the systemd units, installed as the guide says, and tries them: `python -m tests.deploy.boot`.

Needs root and Linux with cgroups of version 2, and for the first run what tests/deploy/debian.py does.
"""

import sys
from pathlib import Path

from bench.servers import UpstreamServer
from tests.deploy import tool
from tests.deploy.boot.checks import CHECKS, Site
from tests.deploy.boot.installation import install
from tests.deploy.boot.machine import Machine
from tests.deploy.customer import HOST, SETTINGS, Customer, configuration
from tests.deploy.debian import copy_checkout, machine
from tests.journeys.caller import Key
from tests.support import plain_http

MODULE = "tests.deploy.boot"
HEADERS = {"Host": HOST, "X-Forwarded-Proto": "https"}
"""As the proxy sends them."""


def play(base: Path, home: Path, only: str) -> int:
    """Boot, install, and try everything; return how many checks failed."""
    product = Key()
    with (
        UpstreamServer(home) as upstream,
        Machine(base, home) as booted,
        plain_http.client(base_url="http://127.0.0.1:8000", headers=HEADERS, timeout=120) as http,
    ):
        copy_checkout(home / "upper")
        tool.say(f"booted in {booted.boot():.1f} s: {booted.run('systemctl --version').splitlines()[0]}")
        install(
            booted, configuration(product, f"{upstream.origin}/v1"), {**SETTINGS, "METRICS_ADDRESS": "127.0.0.1:9100"}
        )
        tool.say("installed as in docs/guides/production.md, steps 1 to 4")
        site = Site(booted, Customer(product, http), http, lambda text: tool.say(f"    {text}"))
        log = "journalctl --no-pager --lines=80 --unit 'account-gateway*'"
        return tool.try_all(CHECKS, site, only, lambda: booted.run(log, check=False))


def main() -> int:
    """Run, and return 1 if a check failed."""
    options = tool.read_options(MODULE, __doc__)
    base = machine(options.kept)
    tool.enter_own_network(MODULE)
    with tool.home(options.kept, keep=options.keep) as home:
        return 1 if play(base, home, options.only) else 0


if __name__ == "__main__":
    sys.exit(main())
