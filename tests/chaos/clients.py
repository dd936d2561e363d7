"""The load: clients that call, disconnect, lose responses and repeat requests with the same key."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass

from bench.identity import Product, fresh_key
from bench.lanes import CHAT_PATH, MAX_COST_MICROUSD, body
from tests.chaos.caller import Caller, proof_headers
from tests.chaos.journal import CALL, Attempt
from tests.chaos.models import Model
from tests.chaos.people import Crowd, Person

TRIES = 4
LEAVING, TIRED = 0.08, 0.5
"""The probabilities that a client disconnects, and that it then does not return."""
RETRIED = {"not_ready", "idempotency_in_progress", "upstream_error", "upstream_timeout", "upstream_overloaded"}


@dataclass(frozen=True, slots=True)
class Wish:
    """One logical call: its key and its body stay the same in every repetition."""

    person: Person
    model: Model
    key: str
    is_stream: bool


class Client:
    """One client that makes one call after another, with any of its models, until stopped."""

    def __init__(
        self,
        caller: Caller,
        product: Product,
        crowd: Crowd,
        models: Sequence[Model],
        dice: random.Random,
        *,
        pause_seconds: float,
    ) -> None:
        self._caller = caller
        self._product = product
        self._crowd = crowd
        self._models = models
        self._dice = dice
        self._pause_seconds = pause_seconds

    async def run(self, stop: asyncio.Event) -> None:
        """Make one call after another."""
        while not stop.is_set():
            await self._complete(self._wish(), stop)
            await asyncio.sleep(self._pause_seconds)

    def _wish(self) -> Wish:
        [model] = self._dice.choices(self._models, [model.weight for model in self._models])
        return Wish(self._crowd.choose(self._dice), model, fresh_key("chaos"), self._dice.random() < model.streams)

    async def _complete(self, wish: Wish, stop: asyncio.Event) -> None:
        """Repeat the request until the response is final or the timeout passes."""
        for number in range(TRIES):
            attempt = await self._ask(wish)
            if attempt is not None and self._is_final(attempt):
                return
            await asyncio.sleep(self._dice.uniform(0.05, 0.4) * 2**number)
            if stop.is_set():
                return

    async def _ask(self, wish: Wish) -> Attempt | None:
        process = self._dice.choice(list(self._caller.gateways))
        person = wish.person
        token = await person.token(self._caller, self._product, process)
        if not token:
            return None
        headers = {
            **proof_headers(person.customer, token, "POST", CHAT_PATH),
            "Idempotency-Key": wish.key,
            "x-service-max-cost-microusd": str(MAX_COST_MICROUSD),
        }
        attempt = Attempt(CALL, process, person.payer, wish.model.name, wish.key, wish.model.is_prompt)
        leaves = self._dice.uniform(0.01, 1.0) if self._dice.random() < LEAVING else None
        content = body(wish.model.name, stream=wish.is_stream)
        await self._caller.ask(attempt, "POST", CHAT_PATH, body=content, headers=headers, leave_after_seconds=leaves)
        return attempt

    def _is_final(self, attempt: Attempt) -> bool:
        if attempt.has_left:
            return self._dice.random() < TIRED
        return attempt.is_whole and attempt.code not in RETRIED
