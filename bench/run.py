"""Controls a run: starts the servers, measures the lanes, compares the books, reports."""

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from bench.books import Ledger
from bench.config import LIMITED, LIMITED_CUSTOMER, PLAIN_MESSAGES, gateway_configuration, write
from bench.gateway_lanes import GatewayLane, SlowDiskLane
from bench.gateways import GatewayServer, GatewaySettings
from bench.identity import Customer, Product
from bench.lanes import (
    MANY,
    MANY_WALLETS,
    MANY_WALLETS_MESSAGES,
    MESSAGES_PATH,
    ONE_WALLET,
    ONE_WALLET_MESSAGES,
    SHARED_LIMITS,
    SHORT,
    THREE_LIMITS,
    WITH_METRICS,
    Lane,
    Question,
    direct_lane,
    direct_messages_lane,
    of_revision,
    pass_through_lane,
)
from bench.measure import Measurement, Plan, shapes
from bench.options import LANES
from bench.paced import PacedResults
from bench.paced import measure as measure_paced
from bench.peer_lanes import PeerLanes
from bench.processes import Process, describe_machine
from bench.report import Report
from bench.revision import WORKING_TREE, Source, checked_out, resolve
from bench.scenarios import Scenarios
from bench.servers import UPSTREAM_KEY, PacedUpstreamServer, PassThroughServer, UpstreamServer
from bench.text import measure as measure_text

S = TypeVar("S", bound=Process)


@dataclass(frozen=True, slots=True)
class Version:
    """One running version of the gateway, with lanes over one account and over many, and both under rate limits and of messages if
    it has them."""

    server: GatewayServer
    one_wallet: GatewayLane
    many_wallets: GatewayLane
    limited: list[Lane]
    messages: list[Lane]


class Bench:
    """A run with these options."""

    def __init__(self, options: argparse.Namespace, directory: Path, stack: ExitStack) -> None:
        self._options = options
        self._directory = directory
        self._stack = stack
        self._product = Product()
        self._slow_disk: str | None = None
        self._revision = resolve(options.against) if options.against else None

    def run(self) -> Report:
        """Run everything that was selected."""
        self._upstream = self._start("the fake upstream", UpstreamServer(self._directory))
        self._own = self._start_version(self._directory, WORKING_TREE) if self._wants_gateway() else None
        self._other = self._start_other(self._revision) if self._revision else None
        self._peers = PeerLanes(self._options, self._directory, self._upstream, self._start)
        measurement = Measurement(self._plan(), self._lanes(), self._upstream, say)
        measurement.warm_up()
        results = measurement.run()
        report = Report(describe_machine(), self._conditions(), results)
        report.slow_disk, report.revision = self._slow_disk, self._revision
        report.peers, report.skipped = self._peers.versions, self._peers.skipped
        if self._own:
            self._play(report, self._own)
        return report

    @cached_property
    def _proxy(self) -> PassThroughServer:
        return self._start("the pass-through proxy", PassThroughServer(self._directory, self._upstream.origin))

    @cached_property
    def _paced_upstream(self) -> PacedUpstreamServer:
        return self._start("the upstream with paced streams", PacedUpstreamServer(self._directory))

    def _wants_gateway(self) -> bool:
        return bool(
            {"gateway", "many-wallets", "messages", "limits", "metrics", "slow-disk"} & set(self._options.lanes)
            or self._options.scenarios
        )

    def _plan(self) -> Plan:
        options = self._options
        chosen = shapes(options.concurrency, options.streams)
        return Plan(options.rounds, options.seconds, min(2.0, options.seconds), chosen)

    def _lanes(self) -> list[Lane]:
        makers: dict[str, Callable[[], list[Lane]]] = {
            "direct": lambda: [direct_lane(self._upstream.port)],
            "pass-through": self._pass_through_lanes,
            "litellm": self._peers.litellm,
            "portkey": self._peers.portkey,
            "gateway": lambda: [version.one_wallet for version in self._versions()],
            "many-wallets": lambda: [version.many_wallets for version in self._versions()],
            "messages": self._messages_lanes,
            "limits": lambda: [lane for version in self._versions() for lane in version.limited],
            "metrics": self._metrics_lanes,
            "slow-disk": self._slow_disk_lanes,
        }
        return [lane for name in LANES if name in self._options.lanes for lane in makers[name]()]

    def _versions(self) -> list[Version]:
        return [version for version in (self._own, self._other) if version]

    def _pass_through_lanes(self) -> list[Lane]:
        return [pass_through_lane(self._proxy.port, self._proxy)]

    def _messages_lanes(self) -> list[Lane]:
        own = [lane for version in self._versions() for lane in version.messages]
        return [direct_messages_lane(self._upstream.port), *self._peers.litellm_messages(), *own]

    def _metrics_lanes(self) -> list[Lane]:
        """Start the gateway once more, with metrics, and a database and customers of its own."""
        home = self._directory / "metrics"
        home.mkdir()
        lane = self._start_version(home, WORKING_TREE, has_metrics=True).one_wallet
        lane.name = WITH_METRICS
        return [lane]

    def _slow_disk_lanes(self) -> list[Lane]:
        assert self._own is not None
        if not self._options.concurrency:
            return []
        delay, at_once = self._options.disk_delay_ms, max(self._options.concurrency)
        lane = SlowDiskLane(self._own.one_wallet, self._product, delay, at_once)
        self._slow_disk = lane.name
        return [lane]

    def _start_other(self, revision: str) -> Version:
        home = self._directory / revision
        home.mkdir()
        source = self._stack.enter_context(checked_out(revision, home / "checkout"))
        return self._start_version(home, source, revision)

    def _start_version(
        self, home: Path, source: Source, revision: str | None = None, *, has_metrics: bool = False
    ) -> Version:
        """Start one version with its own database and customers.

        Only this version's books are compared, because another commit may store them in different tables.
        """
        hot, many = [Customer("hot")], [Customer(f"many-{index}") for index in range(MANY)]
        limited = [Customer(LIMITED_CUSTOMER)]
        configuration = gateway_configuration(
            product=self._product,
            upstream_url=f"{self._upstream.origin}/v1",
            upstream_key=UPSTREAM_KEY,
            customers=[*hot, *many, *limited],
            translates=revision is None,
            paced_url=f"{self._paced_upstream.origin}/v1" if "paced" in self._options.scenarios else None,
        )
        config = write(home / "gateway.yaml", configuration)
        settings = GatewaySettings(self._options.workers, self._options.database_pool, has_metrics=has_metrics)
        name = of_revision("the gateway with metrics" if has_metrics else "the gateway", revision)
        server = self._start(name, GatewayServer(home, config, settings, source))
        ledger = None if revision else self._stack.enter_context(closing(Ledger(server.database_url)))

        def lane(name: str, customers: list[Customer], question: Question = SHORT) -> GatewayLane:
            return GatewayLane(of_revision(name, revision), server, self._product, customers, ledger, question)

        under_limits, messages = [], []
        if not revision:  # an older commit may have neither
            under_limits = [lane(THREE_LIMITS, limited), lane(SHARED_LIMITS, many, Question(LIMITED))]
            question = Question(PLAIN_MESSAGES, MESSAGES_PATH)
            messages = [lane(ONE_WALLET_MESSAGES, hot, question), lane(MANY_WALLETS_MESSAGES, many, question)]
        return Version(server, lane(ONE_WALLET, hot), lane(MANY_WALLETS, many), [*under_limits], [*messages])

    def _start(self, name: str, server: S) -> S:
        say(f"starting {name}")
        self._stack.enter_context(server)
        return server

    def _play(self, report: Report, own: Version) -> None:
        ledger = own.one_wallet.ledger
        assert ledger is not None
        scenarios = Scenarios(own.server, self._upstream, own.one_wallet, ledger, self._directory)
        for number in range(self._options.rounds if "admission" in self._options.scenarios else 0):
            say(f"a wallet that pays for ten, round {number + 1}")
            report.admissions.append(scenarios.admit_exactly(number))
        if "departure" in self._options.scenarios:
            say("clients that leave in the middle of a stream")
            report.departures.append(scenarios.leave_in_the_middle())
        if "pricing" in self._options.scenarios:
            say("calls that are priced by tier, band and caches")
            report.pricings.append(scenarios.price_in_full())
        if "crowd" in self._options.scenarios:
            say("many open streams")
            report.crowds.append(scenarios.crowd(self._options.database_pool))
        if "text" in self._options.scenarios:
            say("long streams, translated and not")
            rounds, seconds = self._options.rounds, self._options.seconds
            report.text = measure_text(own.one_wallet, self._proxy, self._upstream, say, rounds=rounds, seconds=seconds)
        if "paced" in self._options.scenarios:
            say("many paced streams")
            report.paced = self._measure_paced(own)
        say("auditing the ledger")
        audit = own.server.manage("audit_ledger")
        report.audit = "clean" if audit.returncode == 0 else f"NOT CLEAN: {audit.stdout}{audit.stderr}"

    def _measure_paced(self, own: Version) -> PacedResults:
        upstream, options = self._paced_upstream, self._options
        proxy = self._start(
            "its pass-through", PassThroughServer(self._directory, upstream.origin, "paced_passthrough")
        )
        gateways = [own.one_wallet, own.many_wallets]
        return measure_paced(gateways, upstream, proxy, say, rounds=options.rounds, streams=options.paced)

    def _conditions(self) -> str:
        options = self._options
        return (
            f"Database, upstream and load generator share the machine; medians of {options.rounds} interleaved rounds "
            f"of {options.seconds:g} s a lane; {options.workers} server process(es) each for gateway and LiteLLM; "
            "every commit flushed to disk."
        )


def say(text: str) -> None:
    """Print progress to standard error."""
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)
