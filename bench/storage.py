"""Measures the database storage of a settled call: `python -m bench.storage`.

A gateway with production settings answers calls of several kinds, one kind after another. After each, the tables are
vacuumed and measured with indexes and TOAST data, so that the output shows the permanent and the temporary storage of a
call. `--write` puts the tables into docs/retention.md.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import aiohttp
import psycopg
from psycopg import sql

from bench.config import LONG, LONG_TOKENS, PLAIN, gateway_configuration, write
from bench.gateway_lanes import GatewayLane
from bench.gateways import GatewayServer, GatewaySettings
from bench.identity import Customer, Product
from bench.lanes import CHAT_PATH, RESPONSES_PATH, Question
from bench.processes import ROOT
from bench.report import write_between_markers
from bench.revision import WORKING_TREE
from bench.run import say
from bench.servers import UPSTREAM_KEY, UpstreamServer
from bench.tables import table

PAGE = ROOT / "docs" / "retention.md"
AT_ONCE, BATCH = 16, 500
"""A proof is valid for a minute, so only as many are signed at a time as are used at once."""
OUTPUT_LIMIT_TOKENS = 500
GIBIBYTE = 1024**3

LEDGER = ("billing_reservation", "billing_usage_record", "billing_transfer")
ANSWERS = "billing_stored_replay"
RESPONSES = "inference_stored_response"
MEASURED = (*LEDGER, ANSWERS, RESPONSES)
YEARS = (1_000_000, 100_000_000)


class Kind(NamedTuple):
    """A kind of request."""

    name: str
    question: Question
    stream: bool


KINDS = (
    Kind("chat, JSON, 16 words", Question(PLAIN), stream=False),
    Kind("chat, stream, 16 words", Question(PLAIN), stream=True),
    Kind(f"chat, JSON, {LONG_TOKENS} words", Question(LONG, CHAT_PATH, OUTPUT_LIMIT_TOKENS), stream=False),
    Kind(f"chat, stream, {LONG_TOKENS} words", Question(LONG, CHAT_PATH, OUTPUT_LIMIT_TOKENS), stream=True),
    Kind("stored response, JSON, 16 words", Question(PLAIN, RESPONSES_PATH), stream=False),
    Kind(
        f"stored response, JSON, {LONG_TOKENS} words",
        Question(LONG, RESPONSES_PATH, OUTPUT_LIMIT_TOKENS),
        stream=False,
    ),
)
Sizes = Mapping[str, float]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=4000, help="of each kind")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/retention.md")
    options = parser.parse_args()
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gateway-bench-")))
        measured = dict(_measure(stack, directory, options.calls))
    text = report(measured)
    print(text)
    if options.write:
        write_between_markers(PAGE, text, begin="<!-- measured: written by `python -m bench.storage --write` -->")


def report(measured: Mapping[str, Sizes]) -> str:
    """Return the table of bytes per call, and the storage for a year of calls like the first kind."""
    calls = [[name, *(f"{sizes[each]:,.0f}" for each in LEDGER), *_shares(sizes)] for name, sizes in measured.items()]
    head = ["Bytes a call", "reservation", "usage record", "transfer", "ledger, for ever", "kept answer, 24 h"]
    per_call = table([*head, "stored response, 30 days"], calls)
    return f"{per_call}\n\n{_years(measured)}"


def _shares(sizes: Sizes) -> list[str]:
    return [f"{each:,.0f}" for each in (_ledger(sizes), sizes[ANSWERS], sizes[RESPONSES])]


def _ledger(sizes: Sizes) -> float:
    return sum(sizes[each] for each in LEDGER)


def _years(measured: Mapping[str, Sizes]) -> str:
    """Render the storage for a year, with calls spread evenly over it."""
    rows = []
    for calls in YEARS:
        for name, sizes in measured.items():
            ledger, day, month = (
                calls * _ledger(sizes),
                calls / 365 * sizes[ANSWERS],
                calls / 365 * 30 * sizes[RESPONSES],
            )
            rows.append([f"{calls:,} of {name}", *(f"{each / GIBIBYTE:,.2f}" for each in (ledger, day, month))])
    return table(["GiB for a year of", "ledger, grows", "kept answers, level", "stored responses, level"], rows)


def _measure(stack: ExitStack, directory: Path, calls: int) -> Iterator[tuple[str, Sizes]]:
    customer, product = Customer("storage"), Product()
    upstream = stack.enter_context(UpstreamServer(directory))
    configuration = gateway_configuration(
        product=product, upstream_url=f"{upstream.origin}/v1", upstream_key=UPSTREAM_KEY, customers=[customer]
    )
    config = write(directory / "gateway.yaml", configuration)
    gateway = stack.enter_context(GatewayServer(directory, config, GatewaySettings(1, 6), WORKING_TREE))
    with psycopg.connect(gateway.database_url, autocommit=True) as connection:
        for kind in KINDS:
            say(f"{calls} of {kind.name}")
            lane = GatewayLane(kind.name, gateway, product, [customer], None, kind.question)
            before = _sizes(connection)
            asyncio.run(_ask(lane, kind, calls))
            after = _sizes(connection)
            yield kind.name, {each: (after[each] - before[each]) / calls for each in MEASURED}


def _sizes(connection: psycopg.Connection) -> dict[str, int]:
    """Return the size of each table in bytes, with its indexes and TOAST data, after vacuuming."""
    found = {}
    for name in MEASURED:
        connection.execute(sql.SQL("VACUUM {}").format(sql.Identifier(name)))
        row = connection.execute("SELECT pg_total_relation_size(%s::regclass)", [name]).fetchone()
        assert row is not None
        found[name] = int(row[0])
    return found


async def _ask(lane: GatewayLane, kind: Kind, calls: int) -> None:
    """Send this many calls concurrently; raise if one is not answered with 200."""
    url, content = f"{lane.gateway.url}{kind.question.path}", kind.question.body(stream=kind.stream)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=AT_ONCE)) as session:

        async def ask(headers: Mapping[str, str]) -> None:
            headers = {**headers, "Content-Type": "application/json"}
            async with session.post(url, data=content, headers=headers) as answer:
                await answer.read()
                answer.raise_for_status()

        for count in _batches(calls):
            await asyncio.gather(*map(ask, lane.sign(lane.customers[0], count)))


def _batches(calls: int) -> Iterable[int]:
    return [min(BATCH, calls - at) for at in range(0, calls, BATCH)]


if __name__ == "__main__":
    main()
