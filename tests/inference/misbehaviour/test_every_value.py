"""Every value of an honest request, and of an honest answer, in turn replaced by what nobody expects there."""

from typing import Any

import pytest

from tests.inference.misbehaviour.aliases import Aliases
from tests.inference.misbehaviour.row import Case, Row
from tests.inference.misbehaviour.rows import ROWS
from tests.inference.misbehaviour.spoiled import spoiled
from tests.inference.misbehaviour.test_every_route import pieces_of, post
from tests.inference.misbehaviour.wire import MisbehavingUpstream, Play, whole
from tests.support.stage import Caller, Stage
from tests.support.upstream import leaked
from tests.support.upstream.stream import dumps

BALANCE = 10_000_000
ANSWERED = ((200, None), (502, "upstream_invalid"))
"""What a client may get once its request went upstream, whatever came back."""
ALIAS = "the alias"
ASKING = [row for row in ROWS if isinstance(row.body(ALIAS), dict)]
ANSWERING = [row for row in ROWS if isinstance(row.answer, dict)]


def ids(rows: list[Row]) -> Any:
    return pytest.mark.parametrize("row", rows, ids=[row.name for row in rows])


def assert_money(caller: Caller) -> None:
    """Check that every call has an end, that none costs more than its hold, and that the wallet knows of each."""
    calls = caller.calls
    charged = sum(call.charge_microusd or 0 for call in calls)
    held = sum(call.hold_microusd for call in calls if call.state == "review")
    assert {call.state for call in calls} <= {"settled", "review"}
    assert charged > 0
    assert all((call.charge_microusd or 0) <= call.hold_microusd for call in calls)
    assert caller.wallet == {"balance": BALANCE - charged, "held": held, "debt": 0}


@ids(ASKING)
def test_a_request(stage: Stage, aliases: Aliases, misbehaving: MisbehavingUpstream, row: Row) -> None:
    case = Case(row, streams=False)
    misbehaving.play = Play(pieces_of(case))
    alias = aliases.of(row, base_url=misbehaving.base_url)
    caller = stage.caller(balance=BALANCE, scopes=row.scopes)
    for body in spoiled(row.body(alias)):
        calls, misbehaving.requests = caller.call_count, []
        answer = caller.post(None, path=row.path, content=dumps(body))
        code = None if answer.status_code == 200 else answer.json()["error"]["code"]
        if (answer.status_code, code) not in ANSWERED:
            assert answer.status_code < 500 or code == "model_unavailable", (body, answer.text)
            assert (caller.call_count, misbehaving.requests) == (calls, []), (body, answer.text)
    assert_money(caller)


@ids(ANSWERING)
def test_an_answer(stage: Stage, aliases: Aliases, misbehaving: MisbehavingUpstream, row: Row) -> None:
    case = Case(row, streams=False)
    alias = aliases.of(row, base_url=misbehaving.base_url)
    caller = stage.caller(balance=BALANCE, scopes=row.scopes)
    for spoiled_answer in spoiled(row.answer):
        misbehaving.play = Play([whole(dumps(spoiled_answer), row.media_type)])
        answer = post(caller, case, alias)
        code = None if answer.status_code == 200 else answer.json()["error"]["code"]
        assert (answer.status_code, code) in ANSWERED, (spoiled_answer, answer.text)
        assert code is None or not leaked(answer.text + str(answer.headers))
    assert_money(caller)
