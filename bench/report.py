"""Renders results as tables, for the terminal, JSON and the documentation."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from bench import paced
from bench.books import Books
from bench.books_table import books_table
from bench.goals import goals_table
from bench.lanes import of_revision
from bench.measure import Results, Shape
from bench.paced import PacedResults
from bench.processes import DATABASE, SERVER, UPSTREAM
from bench.ratios import added, compare_figures, metrics_table, rates_table, revision_table
from bench.scenarios import AFFORDABLE, LEAVE_AFTER_EVENTS, PARALLEL, Admission, Crowd, Departure, Pricing
from bench.tables import number, table
from bench.text import chunks_table, ratios_table

BEGIN = "<!-- measured: written by `make bench` with --write -->"
END = "<!-- /measured -->"


@dataclass(slots=True)
class Report:
    """All results of a run."""

    machine: str
    conditions: str
    results: Results
    admissions: list[Admission] = field(default_factory=list)
    departures: list[Departure] = field(default_factory=list)
    pricings: list[Pricing] = field(default_factory=list)
    crowds: list[Crowd] = field(default_factory=list)
    text: Results = field(default_factory=Results)
    """Long streams of the routes of text, and short JSON answers."""
    paced: PacedResults = field(default_factory=PacedResults)
    """Many streams that are open at once."""
    audit: str = "not run"
    slow_disk: str | None = None
    """The name of the lane on the slow disk, if there is one."""
    revision: str | None = None
    """The commit that this version was compared with, if there is one."""
    peers: list[str] = field(default_factory=list)
    """The versions of the peers that ran."""
    skipped: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        """Render every table."""
        parts = [f"Measured on {self.machine}. {self.conditions}"]
        if self.peers:
            parts.append(f"Peers: {'; '.join(self.peers)}.")
        if self.results.figures:
            parts += [self._rates(), *self._ratios()]
        if self.results.mebibytes:
            parts.append(self._memory())
        if self.results.books:
            parts.append(self._books())
        if self.text.figures:
            parts += [chunks_table(self.text), ratios_table(self.text)]
        if self.paced.figures:
            parts += [paced.lateness_table(self.paced), paced.goals_table(self.paced), *paced.totals(self.paced)]
        parts += [*self._situations(), *(f"Skipped: {reason}." for reason in self.skipped)]
        return "\n\n".join(parts)

    def json(self) -> bytes:
        """Return every figure, each round's books included."""
        figures = [self._figures(self.results, *each) for each in self.results.figures]
        situations = {
            name: [dataclasses.asdict(each) for each in getattr(self, name)]
            for name in ("admissions", "departures", "pricings", "crowds")
        }
        books = {lane: [dataclasses.asdict(each) for each in of_lane] for lane, of_lane in self.results.books.items()}
        whole = {
            "machine": self.machine,
            "conditions": self.conditions,
            "peers": self.peers,
            "figures": figures,
            "text": [self._figures(self.text, *each) for each in self.text.figures],
            "paced": paced.figures(self.paced),
            "divided_by_revision": self._divided(),
            "server_mebibytes": self.results.mebibytes,
            "books": books,
            **situations,
            "audit_ledger": self.audit,
            "skipped": self.skipped,
        }
        return orjson.dumps(whole, option=orjson.OPT_INDENT_2)

    def is_exact(self) -> bool:
        """Return whether all charges were exact, and no paced stream through the gateway lacked anything."""
        of_lane = [
            *(
                each
                for results in (self.results, self.text, self.paced)
                for books in results.books.values()
                for each in books
            ),
            *(admission.books for admission in self.admissions),
            *(departure.books for departure in self.departures),
            *(priced.books for priced in self.pricings),
            *(crowd.books for crowd in self.crowds),
        ]
        exact = all(_is_exact(each) for each in of_lane)
        return exact and not self.paced.short() and all(each.admitted == AFFORDABLE for each in self.admissions)

    def _divided(self) -> list[dict[str, Any]]:
        """Return every lane's figures divided by the other version's."""
        return [
            {"lane": lane, "stream": shape.stream, "concurrency": shape.concurrency, "revision": self.revision}
            | compare_figures(self.results.of(lane, shape), self.results.of(of_revision(lane, self.revision), shape))
            for lane, shape in list(self.results.figures)
            if self.revision and self.results.ran(of_revision(lane, self.revision), shape)
        ]

    def _figures(self, results: Results, lane: str, shape: Shape) -> dict[str, Any]:
        figures = results.of(lane, shape)
        return {
            "lane": lane,
            "stream": shape.stream,
            "concurrency": shape.concurrency,
            "requests_per_second": figures.rate(),
            "p50_milliseconds": figures.milliseconds(50),
            "p99_milliseconds": figures.milliseconds(99),
            "added_p50_milliseconds": added(results, lane, shape, 50),
            "added_p99_milliseconds": added(results, lane, shape, 99),
            "first_byte_p50_milliseconds": figures.first_byte_milliseconds(50),
            "first_byte_p99_milliseconds": figures.first_byte_milliseconds(99),
            "server_cpu_milliseconds": figures.cpu(SERVER),
            "database_cpu_milliseconds": figures.cpu(DATABASE),
            "upstream_cpu_milliseconds": figures.cpu(UPSTREAM),
            "generator_cpu_milliseconds": figures.generator_cpu_milliseconds(),
            "failed": figures.failed,
        }

    def _rates(self) -> str:
        head = ["Asked", "At once", "Lane", "Requests/s", "p50 ms", "p99 ms", "Added p50", "Added p99", "First byte ms"]
        head += ["Server CPU ms", "Database CPU ms", "Upstream CPU ms", "Generator CPU ms", "Failed"]
        ran = [(lane, shape) for shape in self.results.shapes() for lane in self.results.lanes()]
        rows = [self._rate_row(*each) for each in ran if self.results.ran(*each)]
        return table(head, rows)

    def _rate_row(self, lane: str, shape: Shape) -> list[str]:
        each = self._figures(self.results, lane, shape)
        milliseconds = [
            each[f"{name}_milliseconds"]
            for name in (
                "p50",
                "p99",
                "added_p50",
                "added_p99",
                "first_byte_p50",
                "server_cpu",
                "database_cpu",
                "upstream_cpu",
                "generator_cpu",
            )
        ]
        return [
            shape.kind,
            str(shape.concurrency),
            lane,
            f"{each['requests_per_second']:,.0f}",
            *(number(value) for value in milliseconds),
            str(each["failed"]),
        ]

    def _ratios(self) -> Iterable[str]:
        """Yield the tables that compare lanes with each other."""
        if rates := rates_table(self.results, self.slow_disk):
            yield rates
        if goals := goals_table(self.results):
            yield goals
        if metrics := metrics_table(self.results):
            yield metrics
        if self.revision and (versions := revision_table(self.results, self.revision)):
            yield f"This version divided by {self.revision}, medians of the rounds' ratios:\n\n{versions}"

    def _memory(self) -> str:
        rows = [[lane, f"{size:.0f}"] for lane, size in self.results.mebibytes.items()]
        return table(["Lane", "Resident memory of a server process, MiB"], rows)

    def _books(self) -> str:
        return f"{books_table(self.results, self.revision)}\n\n`audit_ledger` after all of it: {self.audit}."

    def _situations(self) -> Iterable[str]:
        for each in self.admissions:
            yield (
                f"{PARALLEL} parallel requests on a wallet that pays for {AFFORDABLE}: {each.admitted} admitted, "
                f"{each.refused} refused, {each.other} other, {each.served_upstream} reached the upstream; "
                f"{_money(each.books)}."
            )
        for left in self.departures:
            yield (
                f"{left.left} clients that left a stream after {LEAVE_AFTER_EVENTS} words: {left.charged_tokens} tokens "
                f"charged, {left.upstream_tokens} sent by the upstream, {left.received_events} received; "
                f"{_money(left.books)}."
            )
        for priced in self.pricings:
            yield (
                f"{priced.calls} calls priced by service tier, length of the input and caches: "
                f"{priced.books.charged_microusd:,} micro-USD charged; {_money(priced.books)}."
            )
        for crowd in self.crowds:
            yield (
                f"{crowd.open_streams} open streams on {crowd.database_pool} database connections: first byte of "
                f"another stream {crowd.crowded_p50 * 1000:.1f} ms (p99 {crowd.crowded_p99 * 1000:.1f}), alone "
                f"{crowd.undisturbed_p50 * 1000:.1f} ms; {crowd.finished} of them came to their end; "
                f"the server process holds {crowd.server_mebibytes:.0f} MiB then; {_money(crowd.books)}."
            )


def write_between_markers(path: Path, text: str, *, begin: str = BEGIN) -> None:
    """Replace the text between the markers of a page; ValueError if it has none."""
    page = path.read_text()
    before, found, rest = page.partition(begin)
    _, end, after = rest.partition(END)
    if not found or not end:
        raise ValueError(f"{path} lacks the markers between which the figures belong")
    path.write_text(f"{before}{begin}\n\n{text}\n\n{END}{after}")


def _is_exact(books: Books) -> bool:
    return not (books.overspend_microusd or books.drift_microusd or books.unmatched or books.still_open)


def _money(books: Books) -> str:
    return f"overspend {books.overspend_microusd}, drift {books.drift_microusd}, in review {books.in_review}"
