"""Probes: requests to every server process on every kind of route, twice a second."""

import asyncio

from bench.identity import Customer, Product, fresh_key
from bench.lanes import CHAT_PATH, MAX_COST_MICROUSD, body
from tests.chaos.caller import Caller, proof_headers
from tests.chaos.journal import Attempt
from tests.chaos.models import QUICK
from tests.chaos.people import Person, exchange

MODEL_ROUTE = "model route"
WALLET_ROUTE = "GET /v1/wallet"
EXCHANGE_ROUTE = "token exchange"
ROUTES = (MODEL_ROUTE, WALLET_ROUTE, EXCHANGE_ROUTE)
INTERVAL_SECONDS = 0.5


class Prober:
    """Probes one process. Each probe is sent at its time, whether or not earlier ones were answered."""

    def __init__(self, caller: Caller, product: Product, customer: Customer, process: str) -> None:
        self._caller = caller
        self._product = product
        self._person = Person(customer)
        self._process = process

    async def run(self, stop: asyncio.Event) -> None:
        """Probe until stopped, and wait for pending responses."""
        async with asyncio.TaskGroup() as probes:
            while not stop.is_set():
                for probe in (self._exchange, self._wallet, self._model):
                    probes.create_task(probe())
                await asyncio.sleep(INTERVAL_SECONDS)

    async def _exchange(self) -> None:
        customer = self._person.customer
        token = await exchange(self._caller, self._product, customer, Attempt(EXCHANGE_ROUTE, self._process))
        customer.token = token or customer.token

    async def _wallet(self) -> None:
        path = "/v1/wallet"
        if token := self._person.customer.token:
            headers = proof_headers(self._person.customer, token, "GET", path)
            await self._caller.ask(Attempt(WALLET_ROUTE, self._process), "GET", path, headers=headers)

    async def _model(self) -> None:
        if token := self._person.customer.token:
            key = fresh_key("probe")
            headers = {
                **proof_headers(self._person.customer, token, "POST", CHAT_PATH),
                "Idempotency-Key": key,
                "x-service-max-cost-microusd": str(MAX_COST_MICROUSD),
            }
            attempt = Attempt(MODEL_ROUTE, self._process, self._person.payer, QUICK.name, key)
            await self._caller.ask(attempt, "POST", CHAT_PATH, body=body(QUICK.name), headers=headers)
