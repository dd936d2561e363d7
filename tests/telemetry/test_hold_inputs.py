"""What is kept of a hold explains it: the bound at the highest prices comes to the amount that the ledger holds."""

from typing import Any

import pytest

from billing.models import Call
from billing.rules.hold_components import bound_of, components_of
from billing.rules.prices import PriceList
from tests.support.observed import Observed
from tests.support.stage import Stage, ask, chat, message


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", chat("alias")),
        ("/v1/chat/completions", chat("alias", stream=True, n=2, max_tokens=7)),
        ("/v1/responses", ask("alias")),
        ("/v1/messages", message("alias")),
    ],
    ids=["chat", "chat of two choices", "response", "message"],
)
def test_the_parts_of_a_hold_come_to_it(stage: Stage, observed: Observed, path: str, body: dict[str, Any]) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    answer = caller.post({**body, "model": alias}, path=path)
    assert answer.status_code == 200, answer.text
    seen, call = (
        observed.only(caller.did),
        Call.objects.select_related("price_version").get(wallet__owner_key=caller.did),
    )
    bound = bound_of(seen.hold_inputs)
    assert bound is not None
    assert bound.output_tokens
    parts = components_of(bound, PriceList.parse(call.price_version.components), call.hold_microusd)
    assert -(-sum(part.amount for part in parts) // 10**6) == call.hold_microusd > 0
