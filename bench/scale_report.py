"""Renders what `bench.scale` measured as tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.measure import Figures, Results, Shape
from bench.processes import DATABASE, SERVER
from bench.scale_calls import Counts, Growth, lane_name
from bench.scale_parts import Part
from bench.tables import number, table

LEDGER = ("billing_reservation", "billing_usage_record", "billing_transfer")
FOR_A_DAY = ("billing_stored_replay",)
OF_ACCOUNTS = ("accounts_account", "billing_wallet")
SHOWN_UPDATES_MIN = 20
MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Measured:
    """All figures, by database: `rows` are calls and accounts before the run, `caught_up` the first run of jobs over them."""

    machine: str
    wallets: Sequence[int]
    rows: Mapping[str, tuple[int, int]]
    results: Results
    growth: Mapping[str, Growth]
    caught_up: Mapping[str, Sequence[Part]]
    jobs: Mapping[str, Sequence[Part]]
    pages: Mapping[str, Sequence[Part]]


def report(measured: Measured) -> str:
    """Render everything as Markdown."""
    sizes = "; ".join(
        f"{name}: {calls:,} calls, {accounts:,} accounts" for name, (calls, accounts) in measured.rows.items()
    )
    sections = [
        f"Measured on {measured.machine}. Databases: {sizes}.",
        _calls(measured),
        _updates(measured),
        _bytes(measured),
        _account_bytes(measured),
        *(
            _parts(title, parts)
            for title, parts in (
                ("First run over all calls", measured.caught_up),
                ("Job", measured.jobs),
                ("Page", measured.pages),
            )
            if any(parts.values())
        ),
    ]
    return "\n\n".join(sections)


def _calls(measured: Measured) -> str:
    head = [
        "At once",
        "Database, wallets",
        "Calls/s",
        "Server CPU ms",
        "Database CPU ms",
        "Both",
        "Both / empty",
        "Failed",
    ]
    rows = []
    for shape in measured.results.shapes():
        for wallets in measured.wallets:
            base: float | None = None
            for name in measured.rows:
                figures = measured.results.of(lane_name(name, wallets), shape)
                both = figures.cpu(SERVER, DATABASE)
                base = both if base is None else base
                ratio = both / base if both and base else None
                rows.append([*_call(shape, lane_name(name, wallets), figures), number(ratio), str(figures.failed)])
    return table(head, rows)


def _call(shape: Shape, lane: str, figures: Figures) -> list[str]:
    processors = (figures.cpu(SERVER), figures.cpu(DATABASE), figures.cpu(SERVER, DATABASE))
    return [str(shape.concurrency), lane, f"{figures.rate():,.0f}", *map(number, processors)]


def _updates(measured: Measured) -> str:
    """Render the share of heap-only updates of each table that calls updated."""
    rows = [
        [name, which, f"{of.updated / growth.calls:.2f}", f"{100 * of.heap_only / of.updated:.1f} %"]
        for which, growth in measured.growth.items()
        for name, of in _updated(growth)
    ]
    return table(["Updates", "Database", "A call", "Heap-only"], sorted(rows))


def _updated(growth: Growth) -> Iterator[tuple[str, Counts]]:
    return ((name, of) for name, of in growth.counts.items() if of.updated >= SHOWN_UPDATES_MIN)


def _bytes(measured: Measured) -> str:
    """Render what the calls of this run added, and what all calls take."""
    names = [
        each for each in next(iter(measured.growth.values())).sizes if each.partition(":")[0] in (*LEDGER, *FOR_A_DAY)
    ]
    rows = [
        [name, *(cell for which in measured.rows for cell in _size(measured, which, name))] for name in sorted(names)
    ]
    head = [f"{what}, {which}" for which in measured.rows for what in ("Added a call", "MiB", "A call of all")]
    return table(["Bytes of table or index", *head], rows)


def _account_bytes(measured: Measured) -> str:
    """Render what an account with its wallet takes."""
    sizes, (_, accounts) = list(measured.growth.values())[-1].sizes, list(measured.rows.values())[-1]
    rows = [
        [name, f"{size / MEBIBYTE:,.1f}", f"{size / accounts:,.0f}"]
        for name, size in sorted(sizes.items())
        if name.partition(":")[0] in OF_ACCOUNTS
    ]
    return table(["Bytes of table or index", "MiB, full", "An account"], rows)


def _size(measured: Measured, which: str, name: str) -> list[str]:
    growth, (calls, _) = measured.growth[which], measured.rows[which]
    size = growth.sizes[name]
    added = growth.grown[name] / max(1, growth.calls)
    return [f"{added:,.0f}", f"{size / MEBIBYTE:,.1f}", f"{size / (calls + growth.calls):,.0f}"]


def _parts(title: str, parts: Mapping[str, Sequence[Part]]) -> str:
    """Render milliseconds of processor time, of the process and of the database."""
    found = {which: {part.name: part for part in some} for which, some in parts.items()}
    names = dict.fromkeys(name for some in found.values() for name in some)
    rows = [[name, *(cell for some in found.values() for cell in _part(some.get(name)))] for name in names]
    head = [f"{what}, {which}" for which in found for what in ("Process ms", "Database ms", "Result")]
    return table([title, *head], rows)


def _part(part: Part | None) -> list[str]:
    return ["-", "-", "-"] if part is None else [f"{part.process:,.1f}", f"{part.database:,.1f}", part.result]
