"""The gateway's lanes: signed requests, with one account per client or one for all, and with a slow disk."""

import itertools
from collections.abc import Sequence
from contextlib import AbstractContextManager

from bench.books import Ledger
from bench.gateways import GatewayServer
from bench.identity import Customer, Product
from bench.lanes import MAX_COST_MICROUSD, SHORT, Lane, Question, render_request


class GatewayLane(Lane):
    """The gateway: every request has a new proof and idempotency key; its customers take turns."""

    def __init__(
        self,
        name: str,
        gateway: GatewayServer,
        product: Product,
        customers: Sequence[Customer],
        ledger: Ledger | None,
        question: Question = SHORT,
    ) -> None:
        self.name = name
        self.target = gateway.target
        self.server = gateway
        self.customers = customers
        self.ledger = ledger
        self.gateway = gateway
        self.product = product
        self._question = question

    def render(self, count: int, *, stream: bool) -> Sequence[bytes]:
        """Sign `count` requests now, for each customer in turn."""
        share = -(-count // len(self.customers))
        content, path = self._question.body(stream=stream), self._question.path
        signed = [
            [render_request(content, headers, path) for headers in self.sign(customer, share)]
            for customer in self.customers
        ]
        turns = itertools.chain.from_iterable(zip(*signed, strict=True))
        return list(itertools.islice(turns, count))

    def sign(self, customer: Customer, count: int) -> list[dict[str, str]]:
        """Build the headers of `count` metered calls of one customer."""
        self.product.sign_in(customer, self.gateway.url)
        return [customer.headers("POST", self._question.path, MAX_COST_MICROUSD) for _ in range(count)]


class SlowDiskLane(GatewayLane):
    """A lane of the gateway with a slow database disk, for one concurrency of JSON requests."""

    def __init__(self, fast: GatewayLane, product: Product, delay_milliseconds: int, concurrency: int):
        name = f"{fast.name}, {delay_milliseconds} ms disk"
        super().__init__(name, fast.gateway, product, fast.customers, fast.ledger)
        self._delay_milliseconds = delay_milliseconds
        self._concurrency = concurrency

    def takes(self, *, stream: bool, concurrency: int) -> bool:
        return not stream and concurrency == self._concurrency

    def conditions(self) -> AbstractContextManager[None]:
        """Delay every flush of the database."""
        return self.gateway.slow_disk(self._delay_milliseconds)
