"""Measures the gateway beside its peers: `make bench`, or `python -m bench --help`."""

import argparse
import os
import platform
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

from bench.books import Ledger
from bench.config import gateway_configuration, write
from bench.identity import Customer, ProductServer
from bench.lanes import GatewayLane, Lane, direct_lane, litellm_lane, pass_through_lane
from bench.measure import Measurement, Plan, shapes
from bench.processes import ROOT, Process
from bench.report import Report, write_between_markers
from bench.scenarios import Scenarios
from bench.servers import (
    UPSTREAM_KEY,
    GatewayServer,
    GatewaySettings,
    LiteLLMServer,
    PassThroughServer,
    UpstreamServer,
)

S = TypeVar("S", bound=Process)

LANES = ("direct", "pass-through", "litellm", "gateway", "many-wallets")
SCENARIOS = ("admission", "departure", "crowd")
MANY = 64
BUSY_LOAD = 0.7
PAGE = ROOT / "docs" / "benchmarks.md"


class Bench:
    """One whole run: start the servers, play the lanes, compare the books, report."""

    def __init__(self, options: argparse.Namespace, directory: Path, stack: ExitStack) -> None:
        self._options = options
        self._directory = directory
        self._stack = stack
        self._product_server = ProductServer()
        self._hot = [Customer("hot")]
        self._many = [Customer(f"many-{index}") for index in range(MANY)]
        self._skipped: list[str] = []

    def run(self) -> Report:
        """Run everything that was asked for."""
        self._upstream = self._start("the fake upstream", UpstreamServer(self._directory))
        self._gateway = self._start_gateway() if self._wants_gateway() else None
        ledger = Ledger(self._gateway.database_url) if self._gateway else None
        measurement = Measurement(self._plan(), self._lanes(), self._upstream, ledger, say)
        measurement.warm_up()
        report = Report(_machine(), self._conditions(), measurement.run(), skipped=self._skipped)
        if self._gateway and ledger:
            self._play(report, self._gateway, ledger)
            ledger.close()
        return report

    def _wants_gateway(self) -> bool:
        return bool({"gateway", "many-wallets"} & set(self._options.lanes) or self._options.scenarios)

    def _plan(self) -> Plan:
        options = self._options
        asked = shapes(options.concurrency, options.streams)
        return Plan(options.rounds, options.seconds, min(2.0, options.seconds), asked)

    def _lanes(self) -> list[Lane]:
        makers: dict[str, Callable[[], Lane | None]] = {
            "direct": lambda: direct_lane(self._upstream.port),
            "pass-through": self._pass_through_lane,
            "litellm": self._litellm_lane,
            "gateway": lambda: self._gateway_lane("gateway, one wallet", self._hot),
            "many-wallets": lambda: self._gateway_lane(f"gateway, {MANY} wallets", self._many),
        }
        made = [makers[name]() for name in LANES if name in self._options.lanes]
        return [lane for lane in made if lane is not None]

    def _pass_through_lane(self) -> Lane:
        server = self._start("the pass-through proxy", PassThroughServer(self._directory, self._upstream.origin))
        return pass_through_lane(server.port, server)

    def _litellm_lane(self) -> Lane | None:
        if not LiteLLMServer.is_installed():
            if self._options.peers:
                raise SystemExit("bench: LiteLLM is not installed; `make bench-peers` makes its environment.")
            self._skipped.append("LiteLLM, whose environment `make bench-peers` makes")
            return None
        server = LiteLLMServer(self._directory, self._upstream.origin, self._options.workers)
        self._skipped.append("LiteLLM under the overspend test, because its budgets need a database of their own")
        return litellm_lane(self._start("LiteLLM", server).port, server)

    def _gateway_lane(self, name: str, customers: list[Customer]) -> GatewayLane:
        assert self._gateway is not None
        return GatewayLane(name, self._gateway, self._product_server, customers)

    def _start_gateway(self) -> GatewayServer:
        configuration = gateway_configuration(
            jwks=self._product_server.jwks,
            upstream_url=f"{self._upstream.origin}/v1",
            upstream_key=UPSTREAM_KEY,
            customers=[*self._hot, *self._many],
        )
        config = write(self._directory / "gateway.yaml", configuration)
        settings = GatewaySettings(self._options.workers, self._options.ledger_commit, self._options.database_pool)
        return self._start("the gateway", GatewayServer(self._directory, config, settings))

    def _start(self, name: str, server: S) -> S:
        say(f"starting {name}")
        self._stack.enter_context(server)
        return server

    def _play(self, report: Report, gateway: GatewayServer, ledger: Ledger) -> None:
        lane = self._gateway_lane("gateway, one wallet", self._hot)
        scenarios = Scenarios(gateway, self._upstream, lane, ledger, self._directory)
        for number in range(self._options.rounds if "admission" in self._options.scenarios else 0):
            say(f"a wallet that pays for ten, round {number + 1}")
            report.admissions.append(scenarios.admit_exactly(number))
        if "departure" in self._options.scenarios:
            say("clients that leave in the middle of a stream")
            report.departures.append(scenarios.leave_in_the_middle())
        if "crowd" in self._options.scenarios:
            say("many open streams")
            report.crowds.append(scenarios.crowd(self._options.database_pool))
        say("auditing the ledger")
        audit = gateway.manage("audit_ledger")
        report.audit = "clean" if audit.returncode == 0 else f"NOT CLEAN: {audit.stdout}{audit.stderr}"

    def _conditions(self) -> str:
        options = self._options
        return (
            f"Database, upstream and load generator share the machine; medians of {options.rounds} interleaved rounds "
            f"of {options.seconds:g} s a lane; {options.workers} server process(es) each for gateway and LiteLLM; "
            f"every commit flushed to disk (`LEDGER_COMMIT={options.ledger_commit}`)."
        )


def say(text: str) -> None:
    """Tell what is going on, on standard error."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def read_options(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short round, to see that everything runs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5.0, help="of one lane in one round")
    parser.add_argument("--lanes", type=_names(LANES), default=LANES, help=f"any of {','.join(LANES)}")
    parser.add_argument("--scenarios", type=_names(SCENARIOS), default=SCENARIOS, help=f"any of {','.join(SCENARIOS)}")
    parser.add_argument("--concurrency", type=_numbers, default=(1, 16, 64), help="of JSON requests")
    parser.add_argument("--streams", type=_numbers, default=(1, 16), help="concurrency of streams")
    parser.add_argument("--workers", type=int, default=1, help="server processes of gateway and LiteLLM")
    parser.add_argument("--ledger-commit", choices=("pipelined", "sync"), default="pipelined")
    parser.add_argument("--database-pool", type=int, default=6)
    parser.add_argument("--peers", action="store_true", help="fail, instead of skipping it, where LiteLLM is missing")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there too")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks.md")
    parser.add_argument("--keep", action="store_true", help="keep the run's logs and data, and say where")
    options = parser.parse_args(arguments)
    if options.quick:
        options.rounds, options.seconds = 1, min(1.0, options.seconds)
    return options


def _names(known: Iterable[str]) -> Callable[[str], list[str]]:
    def names(text: str) -> list[str]:
        given = [name for name in text.split(",") if name]
        if unknown := set(given) - set(known):
            raise argparse.ArgumentTypeError(f"unknown: {', '.join(sorted(unknown))}")
        return given

    return names


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(",") if part)


def _warn_if_busy() -> None:
    load = os.getloadavg()[0]
    if load > BUSY_LOAD:
        say(f"other work keeps this machine busy (load {load:.1f}): rates will be too low and latencies too high")


def _machine() -> str:
    return f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def main() -> int:
    """Run, print, and exit with 1 when the money was not exact."""
    options = read_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: stopped"))  # by way of the servers' own stops
    _warn_if_busy()
    directory = Path(tempfile.mkdtemp(prefix="gateway-bench-"))
    try:
        with ExitStack() as stack:
            report = Bench(options, directory, stack).run()
    except BaseException:
        say(f"failed; the servers' logs are in {directory}")
        raise
    print(report.markdown())
    if options.json:
        options.json.write_bytes(report.json())
    if options.write:
        write_between_markers(PAGE, report.markdown())
    if options.keep:
        say(f"logs and data are in {directory}")
    else:
        shutil.rmtree(directory, ignore_errors=True)
    return 0 if report.is_exact() else 1


if __name__ == "__main__":
    sys.exit(main())
