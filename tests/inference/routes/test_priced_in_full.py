"""Many calls of every tier, length and form at once, at a price with bands, tiers and caches: the sum that was charged is what the
upstream's own ledger is worth, and nothing is spent beyond holds and wallet."""

import itertools
from typing import Any

import pytest

from bench.config import FULL_MODEL, FULL_PRICE
from bench.prices import of_entry, rounded
from tests.support.concurrency import at_once
from tests.support.stage import CHAT, MESSAGE, MESSAGES, RESPONSES, Caller, Stage

BALANCE = 100_000
CONTROL = {"type": "ephemeral", "ttl": "1h"}
SHAPES = list(itertools.product((CHAT, MESSAGE, RESPONSES), ("default", "flex", "priority"), (5, 40), (False, True)))


def body(alias: str, path: str, tier: str, repeats: int, streams: bool) -> dict[str, Any]:
    said = [{"role": "user", "content": MESSAGES[0]["content"] * repeats}]
    limited = {"messages": said, "max_tokens": 20}
    own = {CHAT: limited, MESSAGE: limited, RESPONSES: {"input": said, "max_output_tokens": 20}}[path]
    if path == MESSAGE and tier == "default":
        tier = "auto"  # its name there
    return {"model": alias, "service_tier": tier, "stream": streams, "cache_control": CONTROL, **own}


@pytest.mark.parametrize("failure", ["", "&done=false&usage=missing"], ids=["whole", "broken-streams"])
def test_what_was_charged_is_what_the_upstream_served(stage: Stage, failure: str) -> None:
    model = f"{FULL_MODEL}{failure}"
    alias, caller = stage.model(model, price=FULL_PRICE, max_output_tokens=50), stage.caller(balance=BALANCE)
    at_once(*[lambda shape=shape: send(caller, alias, shape) for shape in SHAPES * 2])
    settled = [call for call in caller.calls if call.state == "settled"]
    work = {entry.caller_key: entry for entry in stage.upstream.ledger}
    for call in settled:
        entry = work[call.id]
        priced = {name: getattr(entry, name) for name in entry.__slots__} | {"model": FULL_MODEL}
        assert call.charge_microusd == rounded(of_entry(priced)) <= call.hold_microusd <= call.max_cost_microusd
    held = sum(call.hold_microusd for call in caller.calls if call.state == "review")
    assert caller.wallet == {
        "balance": BALANCE - sum(call.charge_microusd for call in settled),
        "held": held,
        "debt": 0,
    }
    assert len(settled) == (0 if failure else len(SHAPES) * 2)


def send(caller: Caller, alias: str, shape: Any) -> None:
    path = shape[0]
    caller.post(body(alias, *shape), path=path, max_cost=1_000)
