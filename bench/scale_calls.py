"""Measures the same calls at two databases, one of them full, turn by turn."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import psycopg

from bench.config import GRANT_MICROUSD, PLAIN, credit, gateway_configuration, write
from bench.gateway_lanes import GatewayLane
from bench.gateways import GatewayServer, GatewaySettings
from bench.identity import Customer, Product
from bench.lanes import Question
from bench.measure import Measurement, Plan, Results, shapes
from bench.processes import DATABASE
from bench.revision import WORKING_TREE
from bench.run import say
from bench.servers import UPSTREAM_KEY, UpstreamServer
from bench.tuned import TunedDatabase

ALIAS = "scale"
"""A name that `bench.report_rows` does not give: the aliases there have deployments of their own."""
WARM_UP_SECONDS = 2.0
POOL = 6
KEYS = {"FIELD_ENCRYPTION_KEYS": "ZGV2ZWxvcG1lbnQta2V5LWRldmVsb3BtZW50LWtleS0="}
"""That of the settings for development, with which `bench.scale_parts` and `bench.reports` read the same database, which may be kept."""

COUNTS = "SELECT relname, n_tup_ins, n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables"
SIZES = """
SELECT c.relname, pg_table_size(c.oid), 'table' FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind = 'r' AND n.nspname = 'public'
UNION ALL
SELECT t.relname || ': ' || c.relname, pg_relation_size(c.oid), 'index' FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public'
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """What the statistics say of a table."""

    inserted: int
    updated: int
    heap_only: int


@dataclass(frozen=True, slots=True)
class Growth:
    """What the calls of a run did to a database: rows by table, bytes by table and by index. `sizes` are those afterwards."""

    calls: int
    counts: Mapping[str, Counts]
    grown: Mapping[str, int]
    sizes: Mapping[str, int]


class ScaleGateway(GatewayServer):
    """A gateway's server on a database that is there already."""

    def __init__(self, directory: Path, config: Path, database: TunedDatabase) -> None:
        super().__init__(directory, config, GatewaySettings(1, POOL, database.url), WORKING_TREE)
        self._environment |= KEYS
        self._postmaster = database.postmaster

    def cpu_seconds(self) -> dict[str, float]:
        """Measure the processor time of the server's processes and of the database, by role."""
        return {**super().cpu_seconds(), DATABASE: self._postmaster.processor_seconds()}


def measure(
    databases: Mapping[str, TunedDatabase],
    accounts: Mapping[str, int],
    directory: Path,
    *,
    rounds: int,
    seconds: float,
    at_once: Sequence[int],
    wallets: Sequence[int],
) -> tuple[Results, dict[str, Growth]]:
    """Make calls at every database in turn, over so many wallets each time. `accounts` says how many each has."""
    before = {name: _read(database.url) for name, database in databases.items()}
    with ExitStack() as stack:
        upstream = stack.enter_context(UpstreamServer(directory))
        lanes: list[GatewayLane] = []
        for name, database in databases.items():
            lanes += _lanes(stack, name, database, spreads(accounts[name], wallets), directory / name, upstream)
        plan = Plan(rounds, seconds, min(WARM_UP_SECONDS, seconds), shapes(at_once, ()))
        measurement = Measurement(plan, lanes, upstream, say)
        measurement.warm_up()
        results = measurement.run()
    # The statistics are whole once the servers' sessions have ended.
    return results, {name: _growth(before[name], _read(database.url)) for name, database in databases.items()}


def lane_name(database: str, wallets: int) -> str:
    """Return the name of a lane."""
    return f"{database}, {wallets:,} wallet{'s' if wallets > 1 else ''}"


def spreads(accounts: int, wallets: Sequence[int]) -> dict[int, list[Customer]]:
    """Return so many customers each time, evenly spread over the accounts `1` to `accounts`. Each person is one object, with one
    token."""
    known: dict[str, Customer] = {}
    names = {many: [str(1 + number * accounts // many) for number in range(many)] for many in wallets}
    return {many: [known.setdefault(name, Customer(name)) for name in of] for many, of in names.items()}


def _lanes(
    stack: ExitStack,
    name: str,
    database: TunedDatabase,
    customers: Mapping[int, Sequence[Customer]],
    home: Path,
    upstream: UpstreamServer,
) -> list[GatewayLane]:
    product = Product()
    everybody = {each.name: each for some in customers.values() for each in some}
    configuration = gateway_configuration(
        product=product, upstream_url=f"{upstream.origin}/v1", upstream_key=UPSTREAM_KEY, customers=(), translates=False
    )
    configuration["aliases"] = [{**each, "name": ALIAS} for each in configuration["aliases"] if each["name"] == PLAIN]
    configuration["upstreams"] = [each for each in configuration["upstreams"] if each["name"] == "bench"]
    configuration["credits"] = [credit(each, GRANT_MICROUSD) for each in everybody.values()]
    home.mkdir()
    say(f"starting a gateway on the database {name}")
    gateway = stack.enter_context(ScaleGateway(home, write(home / "gateway.yaml", configuration), database))
    return [
        GatewayLane(lane_name(name, wallets), gateway, product, some, None, Question(ALIAS))
        for wallets, some in customers.items()
    ]


def _read(url: str) -> tuple[dict[str, Counts], dict[str, int]]:
    """Read counts and sizes of every table; sizes after a vacuum of those that a call writes."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM billing_reservation, billing_usage_record, billing_transfer, billing_stored_replay")
        counts = {name: Counts(*of) for name, *of in connection.execute(COUNTS)}
        return counts, {name: int(size) for name, size, _ in connection.execute(SIZES)}


def _growth(
    before: tuple[dict[str, Counts], dict[str, int]], after: tuple[dict[str, Counts], dict[str, int]]
) -> Growth:
    counts = {name: _since(before[0].get(name, Counts(0, 0, 0)), counted) for name, counted in after[0].items()}
    grown = {name: size - before[1].get(name, 0) for name, size in after[1].items()}
    return Growth(counts["billing_reservation"].inserted, counts, grown, after[1])


def _since(before: Counts, after: Counts) -> Counts:
    return Counts(after.inserted - before.inserted, after.updated - before.updated, after.heap_only - before.heap_only)
