"""Whatever an upstream does, on every model route and in every form: the right status, the right money, and no leak."""

from collections.abc import Callable
from typing import Any

import httpx
import orjson
import pytest

from inference.adapters.http_endpoint import HttpEndpoint
from inference.urls import metered_urlpatterns
from inference.vendors.demo.endpoint import DemoEndpoint
from judgement.urls import metered_urlpatterns as judgement_urlpatterns
from tests.inference.misbehaviour.aliases import Aliases
from tests.inference.misbehaviour.behaviours import BEHAVIOURS, OK, Misbehaviour
from tests.inference.misbehaviour.honest import pieces_of
from tests.inference.misbehaviour.row import CUT, Case, Form, Outcome, Row, cases_of
from tests.inference.misbehaviour.rows import ROWS
from tests.inference.misbehaviour.summary import PROPERTY
from tests.inference.misbehaviour.table import PAGE_PATH, page
from tests.inference.misbehaviour.wire import MisbehavingUpstream, Play
from tests.inference.routes.test_every_route_is_metered import FREE, view_of
from tests.support.stage import Caller, Stage
from tests.support.upstream import closed_port, leaked

BALANCE = 50_000
METERED_PATHS = sorted({f"/{pattern.pattern}" for pattern in (*metered_urlpatterns, *judgement_urlpatterns)} - {*FREE})
CASES = cases_of(ROWS)
CELLS = [(case, behaviour) for case in CASES for behaviour in BEHAVIOURS if behaviour.concerns(case)]
IDS = [f"{case.name}: {behaviour.name}" for case, behaviour in CELLS]


def post(caller: Caller, case: Case, alias: str, key: str = "") -> httpx.Response:
    """Send the honest request."""
    body, path = case.row.body(alias), case.row.path
    members = case.row.stream_members if case.streams else {}
    if not isinstance(body, Form):
        return caller.post({**body, **members}, path=path, key=key)
    fields = {**body.fields, **{name: str(value).lower() for name, value in members.items()}}
    sent = httpx.Request("POST", "http://x", data=fields, files={body.file_field: body.file})
    content_type = {"Content-Type": sent.headers["Content-Type"]}
    return caller.post(None, path=path, key=key, content=sent.read(), headers=content_type)


def posted(caller: Caller, case: Case, alias: str) -> httpx.Response:
    """Send the honest request; an answer whose end did not come is told by a header of its own."""
    try:
        return post(caller, case, alias)
    except httpx.RemoteProtocolError:
        return httpx.Response(200, headers={"content-type": case.row.media_type, CUT: "true"})


def error_in(answer: httpx.Response) -> str | None:
    """Return the code of the error that an answer is or, as a stream, has in it."""
    if not answer.headers["content-type"].startswith("text/event-stream"):
        return (
            str(answer.json()["error"]["code"]) if answer.status_code != 200 else CUT if CUT in answer.headers else None
        )
    lines = [line.removeprefix("data: ") for line in answer.text.split("\n") if line.startswith("data: {")]
    errors = [event["error"] for line in lines if isinstance(event := orjson.loads(line), dict) and event.get("error")]
    return str(errors[0]["code"]) if errors else None


def receipt_of(answer: httpx.Response) -> int | None:
    """Return the charge that an answer tells, in its headers or as a stream's last line."""
    if not answer.headers["content-type"].startswith("text/event-stream"):
        charged = answer.headers.get("x-service-charge-microusd")
        return None if charged is None else int(charged)
    receipt = answer.text.strip().rpartition("\n")[2].removeprefix(": service ")
    charge: int | None = orjson.loads(receipt)["charge_microusd"]
    return charge


def assert_money(
    caller: Caller, call: Any, case: Case, answer: httpx.Response, outcome: Outcome, charge_microusd: int | None
) -> None:
    """Compare the call, the wallet and the receipt, to the micro-USD; None: the charge is the hold."""
    charge = call.hold_microusd if charge_microusd is None else charge_microusd
    charged, held = {
        "settled": (charge, 0),
        "released": (0, 0),
        "review": (0, call.hold_microusd),
    }[outcome.state]
    assert caller.wallet == {"balance": BALANCE - charged, "held": held, "debt": 0}
    assert call.charge_microusd == (charged if outcome.state == "settled" else None)
    has_receipt = not (answer.status_code == 200 and case.row.is_handed_on and not case.streams)
    assert receipt_of(answer) == (call.charge_microusd if has_receipt else None)


def outcome_of(call: Any, answer: httpx.Response) -> Outcome:
    return Outcome(answer.status_code, error_in(answer), call.state)


def assert_outcome(
    caller: Caller, call: Any, case: Case, answer: httpx.Response, outcome: Outcome, charge_microusd: int | None
) -> None:
    assert outcome_of(call, answer) == outcome
    assert not leaked(answer.text + str(answer.headers))
    assert_money(caller, call, case, answer, outcome, charge_microusd)


def address_of(misbehaving: MisbehavingUpstream, behaviour: Misbehaviour) -> str:
    return misbehaving.base_url if behaviour.is_there else f"http://127.0.0.1:{closed_port()}/v1"


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_an_honest_answer_is_charged_once(
    stage: Stage, aliases: Aliases, misbehaving: MisbehavingUpstream, case: Case
) -> None:
    misbehaving.play, misbehaving.requests = Play(pieces_of(case)), []
    alias = aliases.of(case.row, base_url=misbehaving.base_url)
    caller = stage.caller(balance=BALANCE, scopes=case.row.scopes)
    first, again = (post(caller, case, alias, key="same") for _ in range(2))
    assert_outcome(caller, caller.only_call, case, first, OK, case.row.charge_microusd)
    assert (again.content, again.headers["idempotent-replayed"]) == (first.content, "true")
    assert len(misbehaving.requests) == case.row.calls


@pytest.mark.parametrize(("case", "behaviour"), CELLS, ids=IDS)
def test_misbehaviour(
    stage: Stage,
    aliases: Aliases,
    misbehaving: MisbehavingUpstream,
    record_property: Callable[[str, object], None],
    case: Case,
    behaviour: Misbehaviour,
) -> None:
    misbehaving.play, misbehaving.requests = behaviour.play(case), []
    alias = aliases.of(case.row, base_url=address_of(misbehaving, behaviour), **behaviour.upstream)
    caller = stage.caller(balance=BALANCE, scopes=case.row.scopes)
    answer = posted(caller, case, alias)
    call = caller.only_call
    record_property(PROPERTY, (case.name, behaviour.name, str(outcome_of(call, answer))))
    charge_microusd = None if behaviour.exceeds else case.row.charge_microusd
    assert_outcome(caller, call, case, answer, behaviour.expected(case), charge_microusd)
    assert bool(misbehaving.requests) == behaviour.is_there
    assert not [line for line in misbehaving.requests if "elsewhere" in line]


def kind_of(row: Row) -> Any:
    """Return the key of a row's upstream in its route's table of endpoints."""
    return (row.adapter, row.known) if row.known else row.adapter


def streams(endpoint: Any) -> bool:
    return isinstance(endpoint, HttpEndpoint) and (
        endpoint.stream is not None or type(endpoint).stream_of is not HttpEndpoint.stream_of
    )


@pytest.mark.parametrize("path", METERED_PATHS)
def test_every_route_has_a_row_for_each_kind_of_upstream(path: str) -> None:
    view, _ = view_of(path)
    upstreams = {key: each for key, each in view.route.endpoints.items() if not isinstance(each, DemoEndpoint)}
    rows = [row for row in ROWS if row.path == path]
    assert {kind_of(row) for row in rows} == set(upstreams)
    assert {key for key, each in upstreams.items() if streams(each)} == {kind_of(row) for row in rows if row.events}


def test_the_page_is_what_the_rows_and_behaviours_say() -> None:
    assert PAGE_PATH.read_text() == page(), "run python -m tests.inference.misbehaviour --write"
