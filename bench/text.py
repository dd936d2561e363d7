"""Compares long streams on the text routes, translated and not, with the pass-through; and stored responses with
chats."""

from collections.abc import Callable
from typing import NamedTuple

from bench.config import (
    LONG,
    LONG_MODEL,
    LONG_OVER_CHAT,
    LONG_OVER_MESSAGES,
    LONG_OVER_RESPONSES,
    LONG_TOKENS,
    PLAIN,
)
from bench.gateway_lanes import GatewayLane
from bench.lanes import CHAT_PATH, MESSAGES_PATH, RESPONSES_PATH, KeyLane, Lane, Question
from bench.measure import Figures, Measurement, Plan, Results, Shape
from bench.processes import DATABASE, SERVER
from bench.ratios import Measure, ratio, server_cpu
from bench.servers import UPSTREAM_KEY, PassThroughServer, UpstreamServer
from bench.tables import number, table

AT_ONCE = (16, 100)
JSON_AT_ONCE = 16
LONG_PER_SECOND_MAX = 300
OUTPUT_LIMIT_TOKENS = 500

CHATS = "chats"
RESPONSES = "responses"
OVER_RESPONSES = "chats over responses"
OVER_CHAT = "responses over chats"
MESSAGES = "messages"
MESSAGES_OVER_CHAT = "messages over chats"
CHATS_OVER_MESSAGES = "chats over messages"
JSON_CHATS = "chats as JSON"
JSON_RESPONSES = "stored responses as JSON"
BARE_CHATS = "pass-through, chats"
BARE_RESPONSES = "pass-through, responses"


class Wanted(NamedTuple):
    """A ratio of two lanes' figures, and its target."""

    name: str
    lane: str
    base: str
    measure: Measure
    limit: str

    def at(self, results: Results, shape: Shape) -> str:
        """Render the ratio in one shape."""
        return number(ratio(results, self.lane, self.base, shape, self.measure))


STREAMED = (
    Wanted("chunks/s, chats / pass-through", CHATS, BARE_CHATS, Figures.rates, "at least 0.6"),
    Wanted("chunks/s, responses / pass-through", RESPONSES, BARE_RESPONSES, Figures.rates, "at least 0.6"),
    Wanted("server CPU, chats over responses / chats", OVER_RESPONSES, CHATS, server_cpu, "at most 1.3"),
    Wanted("server CPU, responses over chats / responses", OVER_CHAT, RESPONSES, server_cpu, "at most 1.3"),
    Wanted("chunks/s, messages / chats", MESSAGES, CHATS, Figures.rates, "at least 0.8"),
    Wanted("server CPU, messages over chats / messages", MESSAGES_OVER_CHAT, MESSAGES, server_cpu, "at most 1.3"),
    Wanted("server CPU, chats over messages / chats", CHATS_OVER_MESSAGES, CHATS, server_cpu, "at most 1.3"),
)
WHOLE = Wanted("requests/s, stored responses / chats", JSON_RESPONSES, JSON_CHATS, Figures.rates, "at least 0.8")


class TextLane(GatewayLane):
    """One question to the gateway, only as a stream or only as JSON."""

    def __init__(self, name: str, gateway: GatewayLane, question: Question, *, streams: bool) -> None:
        ledger = gateway.ledger
        super().__init__(name, gateway.gateway, gateway.product, gateway.customers, ledger, question)
        self._streams = streams
        self.requests_per_second_max = LONG_PER_SECOND_MAX if streams else None

    def takes(self, *, stream: bool, concurrency: int) -> bool:
        return stream == self._streams


class BareLane(KeyLane):
    """Long streams through the pass-through."""

    def takes(self, *, stream: bool, concurrency: int) -> bool:
        return stream


def measure(
    gateway: GatewayLane,
    proxy: PassThroughServer,
    upstream: UpstreamServer,
    say: Callable[[str], None],
    *,
    rounds: int,
    seconds: float,
) -> Results:
    """Run every lane in turn."""
    shapes = [Shape(False, JSON_AT_ONCE), *(Shape(True, at_once) for at_once in AT_ONCE)]
    measurement = Measurement(Plan(rounds, seconds, min(1.0, seconds), shapes), _lanes(gateway, proxy), upstream, say)
    measurement.warm_up()
    return measurement.run()


def ratios_table(results: Results) -> str:
    """Return the ratios for every concurrency, with their targets."""
    shapes = [Shape(True, at_once) for at_once in AT_ONCE]
    rows = [[wanted.name, *(wanted.at(results, shape) for shape in shapes), wanted.limit] for wanted in STREAMED]
    rows.append([WHOLE.name, WHOLE.at(results, Shape(False, JSON_AT_ONCE)), "-", WHOLE.limit])
    return table(["Divided", *(f"{at_once} at once" for at_once in AT_ONCE), "Wanted"], rows)


def chunks_table(results: Results) -> str:
    """Return each lane's chunks per second, and the processor time of server and database, which other load affects
    least."""
    rows = []
    for shape in results.shapes():
        for lane in results.lanes():
            if shape.stream and results.ran(lane, shape):
                figures = results.of(lane, shape)
                rows.append([lane, str(shape.concurrency), *_chunk_figures(figures)])
    head = ["At once", "Chunks/s", "Server CPU ms", "Server CPU µs/chunk", "Database CPU ms", "Failed"]
    return table([f"Streams of {LONG_TOKENS} chunks", *head], rows)


def _chunk_figures(figures: Figures) -> list[str]:
    server, database = figures.cpu(SERVER), figures.cpu(DATABASE)
    a_chunk = None if server is None else 1000 * server / LONG_TOKENS
    rate = f"{figures.rate() * LONG_TOKENS:,.0f}"
    return [rate, number(server), number(a_chunk), number(database), str(figures.failed)]


def _lanes(gateway: GatewayLane, proxy: PassThroughServer) -> list[Lane]:
    def bare(name: str, path: str) -> Lane:
        question = Question(LONG_MODEL, path, OUTPUT_LIMIT_TOKENS)
        return BareLane(name, proxy.port, question=question, key=UPSTREAM_KEY, server=proxy)

    def long(name: str, model: str, path: str) -> Lane:
        return TextLane(name, gateway, Question(model, path, OUTPUT_LIMIT_TOKENS), streams=True)

    return [
        bare(BARE_CHATS, CHAT_PATH),
        bare(BARE_RESPONSES, RESPONSES_PATH),
        long(CHATS, LONG, CHAT_PATH),
        long(RESPONSES, LONG, RESPONSES_PATH),
        long(OVER_RESPONSES, LONG_OVER_RESPONSES, CHAT_PATH),
        long(OVER_CHAT, LONG_OVER_CHAT, RESPONSES_PATH),
        long(MESSAGES, LONG_OVER_MESSAGES, MESSAGES_PATH),
        long(MESSAGES_OVER_CHAT, LONG_OVER_CHAT, MESSAGES_PATH),
        long(CHATS_OVER_MESSAGES, LONG_OVER_MESSAGES, CHAT_PATH),
        TextLane(JSON_CHATS, gateway, Question(PLAIN), streams=False),
        TextLane(JSON_RESPONSES, gateway, Question(PLAIN, RESPONSES_PATH), streams=False),
    ]
