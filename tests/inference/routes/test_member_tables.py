"""Every member that the vendor's SDK knows is passed, bounded or refused, as the table says; each row is proved by a call."""

import math
from decimal import Decimal
from typing import Any

import pytest

from gateway.core.json.strict import canonical
from inference.rules.members import Treatment
from tests.inference.routes.chat_member_table import CHAT_TABLE
from tests.inference.routes.member_table import INPUT, LIMIT, MemberTable, assert_refused
from tests.inference.routes.response_member_table import RESPONSE_TABLE
from tests.support.stage import Stage

TABLES = {"chat": CHAT_TABLE, "responses": RESPONSE_TABLE}
EACH = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


def values_of(name: str) -> Any:
    """Parametrize over every value that the tables have for their members."""
    rows = [
        pytest.param(table, member, value, id=f"{route}-{member}-{number}")
        for route, table in TABLES.items()
        for member, values in getattr(table, name).items()
        for number, value in enumerate(values)
    ]
    return pytest.mark.parametrize(("table", "name", "value"), rows)


@EACH
def test_the_table_has_every_member_of_the_sdk_and_no_other(table: MemberTable) -> None:
    assert set(table.vendor) == table.vendor_members()


@EACH
def test_every_row_of_the_table_is_proved_below(table: MemberTable) -> None:
    assert table.names_of(Treatment.PASSED) == set(table.passed)
    assert table.names_of(Treatment.REFUSED) == set(table.refused)
    assert table.names_of(Treatment.BOUNDED) == set(table.bounded) | table.elsewhere


@pytest.mark.parametrize(
    ("table", "name"),
    [pytest.param(table, name, id=f"{route}-{name}") for route, table in TABLES.items() for name in table.passed],
)
def test_a_passed_member_reaches_the_upstream_as_it_came(stage: Stage, table: MemberTable, name: str) -> None:
    needed = {"stream": True} if name == "stream_options" else {}
    _, answer, _ = table.ask(stage, **needed, **{name: table.passed[name]})
    assert answer.status_code == 200, answer.text
    assert stage.upstream.ledger.entries[0].body[name] == table.passed[name]


@values_of("refused")
def test_a_refused_member_is_named_and_costs_nothing(stage: Stage, table: MemberTable, name: str, value: Any) -> None:
    caller, answer, _ = table.ask(stage, **{name: value})
    assert_refused(stage, caller, answer, name)


@values_of("allowed")
def test_a_refused_member_passes_with_a_value_that_changes_nothing(
    stage: Stage, table: MemberTable, name: str, value: Any
) -> None:
    _, answer, _ = table.ask(stage, **{name: value})
    assert answer.status_code == 200
    assert stage.upstream.ledger.entries[0].body[name] == value


@values_of("bounded")
def test_a_bounded_member_is_in_the_hold_and_passed(
    stage: Stage, table: MemberTable, name: str, value: tuple[dict[str, Any], int, Decimal]
) -> None:
    members, output_tokens, price = value
    caller, answer, body = table.ask(stage, table.price, **members)
    assert answer.status_code == 200, answer.text
    hold = math.ceil(len(canonical(body)) * INPUT + output_tokens * price)
    assert caller.only_call.hold_microusd == hold
    assert int(answer.headers["x-service-hold-microusd"]) == hold
    sent = stage.upstream.ledger.entries[0].body
    assert {member: sent[member] for member in members} == members


@EACH
def test_the_model_selects_the_price_and_is_replaced_by_the_deployments_own(stage: Stage, table: MemberTable) -> None:
    caller, answer, body = table.ask(stage, {"input_token": "3", "output_token": "14"})
    assert answer.json()["model"] == body["model"]
    assert caller.only_call.hold_microusd == 3 * len(canonical(body)) + 14 * LIMIT
    assert stage.upstream.ledger.entries[0].body["model"] == "small-1"


@EACH
@pytest.mark.parametrize(("heading", "rows"), [("Fields", "vendor"), ("Fields within fields", "inside")])
def test_the_page_has_the_same_table(table: MemberTable, heading: str, rows: str) -> None:
    told = [[f"`{name}`", str(member.treatment), member.explanation] for name, member in getattr(table, rows).items()]
    assert table.rows_under(heading) == told
