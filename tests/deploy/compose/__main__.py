"""Runs deploy/compose.yaml with Docker as it stands, then the command lines of deploy/kubernetes: `python -m tests.deploy.compose`.

Needs what `python -m tests.deploy.boot` does; Docker comes with the machine that is booted.
"""

import ssl
import sys
from pathlib import Path

import httpx

from tests.deploy import tool
from tests.deploy.boot.machine import Machine
from tests.deploy.compose import engine
from tests.deploy.compose.beside import UPSTREAM, Beside
from tests.deploy.compose.checks import CHECKS, Site
from tests.deploy.customer import BASE_URL, HOST, SETTINGS, Customer, configuration
from tests.deploy.debian import copy_checkout, debian, wheels
from tests.deploy.debian import engine as engine_machine
from tests.journeys.caller import Key
from tests.support.fronts import Way

MODULE = "tests.deploy.compose"


def play(kept: Path, home: Path, only: str) -> int:
    """Boot a machine with Docker, build the images, and try everything; return how many checks failed."""
    product = Key()
    storage = kept / f"docker-{debian(kept).name}"
    storage.mkdir(exist_ok=True)
    with (
        Machine(engine_machine(kept), home, {debian(kept): "bare", storage: "var/lib/docker"}) as machine,
        Beside(machine, home / "upstream.log") as beside,
    ):
        copy_checkout(home / "upper")
        engine.settle(home, wheels(kept))
        tool.say(f"booted in {machine.boot():.1f} s")
        engine.build(machine)
        tool.say(f"built the image: {machine.run('docker --version')}")
        engine.furnish(machine, configuration(product, UPSTREAM), SETTINGS)
        context = ssl.create_default_context(cafile=str(machine.path(f"{engine.CONFIGURATION}/tls/{HOST}.pem")))
        with httpx.Client(base_url=BASE_URL, timeout=120, transport=Way(443, context)) as http:
            site = Site(machine, Customer(product, http), http, beside, lambda text: tool.say(f"    {text}"))
            log = f"{engine.COMPOSE} ps; {engine.COMPOSE} logs --tail 40"
            return tool.try_all(CHECKS, site, only, lambda: machine.run(log, check=False))


def main() -> int:
    """Run, and return 1 if a check failed."""
    options = tool.read_options(MODULE, __doc__)
    for make in (debian, engine_machine, wheels):
        make(options.kept)
    tool.enter_own_network(MODULE)
    with tool.home(options.kept, keep=options.keep) as home:
        return 1 if play(options.kept, home, options.only) else 0


if __name__ == "__main__":
    sys.exit(main())
