"""What a route's table of members is proved with: each row by a call that is passed, bounded or refused as the table says."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from inference.rules.members import Treatment
from tests.factories.images import PNG_URL
from tests.support.stage import Caller, Stage

INPUT, OUTPUT = Decimal("1.5"), Decimal(7)
PRICE = {"input_token": str(INPUT), "output_token": str(OUTPUT)}
LIMIT = 50
PNG = PNG_URL

Members = dict[str, Any]


@dataclass(frozen=True)
class MemberTable:
    """One route's table, and for each member of it values that prove its row.

    `bounded` has members beside the plain request, and the output tokens and the price of each that they make, at `price`.
    `elsewhere` are bounded members that are proved by tests of their own.
    """

    path: str
    body: Callable[..., Members]
    vendor: Mapping[str, Any]
    price: Mapping[str, str]
    passed: Members
    refused: dict[str, list[Any]]
    allowed: dict[str, list[Any]]
    bounded: dict[str, list[tuple[Members, int, Decimal]]]
    elsewhere: frozenset[str]
    adapter: str = "openai"

    def ask(self, stage: Stage, price: Any = PRICE, **members: Any) -> tuple[Caller, Any, Members]:
        """Send the plain request with these members; give its caller, the answer and the body."""
        upstream = stage.upstream_row(adapter=self.adapter)
        alias, caller = stage.model(max_output_tokens=LIMIT, price=price, upstream=upstream), stage.caller()
        body = self.body(alias, **members)
        content = json.dumps(body).encode()  # integers of any length, unlike orjson
        return caller, caller.post(body, content=content, path=self.path), body

    def names_of(self, treatment: Treatment) -> set[str]:
        """Name what the table treats so."""
        return {name for name, member in self.vendor.items() if member.treatment is treatment}


def assert_refused(stage: Stage, caller: Caller, answer: Any, param: str, code: str = "invalid_request") -> None:
    """Check a refusal, and that it held and sent nothing."""
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, code, param)
    assert caller.calls == []
    assert caller.wallet == {"balance": 1_000_000, "held": 0, "debt": 0}
    assert len(stage.upstream.ledger) == 0
