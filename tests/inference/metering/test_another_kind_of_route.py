"""The metering core serves a route with multipart requests and answers of bytes, priced by kind, counted in the answer."""

from typing import Any

import httpx
import pytest
from django.db import connection

from billing.models import UsageRecord, Wallet
from billing.operations import reviews
from billing.queries import audit
from billing.rules.prices import PriceList
from inference.interface.answer import Answer
from inference.rules.verdicts import Review, Settle, judge
from tests.inference.metering.conftest import PictureUpstream
from tests.inference.metering.pictures import PICTURE, BoundedPictures, Upload
from tests.support.stage import Caller, Stage

PATH = "/v1/pictures"
FILE = b"\x00\xff\r\n--" * 500
SCOPES = ("infer:*", "wallet:read")
PRICE = {"image": {"small/fine": "100"}}


def post(caller: Caller, model: str, *, key: str | None = "", **fields: str) -> httpx.Response:
    """Send a form."""
    request = httpx.Request(
        "POST", "http://x", files={"file": FILE}, data={"model": model, "kind": "small/fine", **fields}
    )
    boundary = {"Content-Type": 'multipart/form-data; boundary="fixed"'}
    content = request.read().replace(request.headers["Content-Type"].partition("=")[2].encode(), b"fixed")
    return caller.post(None, path=PATH, key=key, content=content, headers=boundary)


@pytest.fixture
def model(stage: Stage, pictures: PictureUpstream) -> str:
    row = stage.upstream_row(base_url=pictures.base_url)
    return stage.model("painter", price=PRICE, upstream=row, options={"routes": ["images.generations"]})


def notes(usage_id: str) -> list[Any]:
    """Return the notes in the route's own rows."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT note FROM test_kept WHERE usage_id = %s", [usage_id])
        return [note for (note,) in cursor.fetchall()]


def test_a_form_goes_in_and_bytes_come_out(stage: Stage, pictures: PictureUpstream, model: str) -> None:
    caller = stage.caller(scopes=SCOPES)
    answer = post(caller, model)
    assert (answer.status_code, answer.content) == (200, PICTURE * 2)
    assert answer.headers["content-type"] == "image/x-test"
    assert answer.headers["x-service-hold-microusd"] == "400"
    assert answer.headers["x-service-charge-microusd"] == "200"
    [(content_type, form)] = pictures.forms
    assert content_type.startswith("multipart/form-data")
    assert FILE in form
    assert b"painter" in form
    assert model.encode() not in form
    assert caller.wallet == {"balance": 999_800, "held": 0, "debt": 0}
    assert UsageRecord.objects.get(call_id=caller.only_call.id).images == 2
    assert audit.findings() == []


def test_the_settling_statement_stores_the_routes_note(stage: Stage, pictures: PictureUpstream, model: str) -> None:
    caller = stage.caller(scopes=SCOPES)
    post(caller, model)
    assert notes(caller.only_call.id) == ["16 bytes"]
    pictures.answer = (400, b"{}", 2)
    refused = stage.caller(scopes=SCOPES)
    assert post(refused, model).status_code == 400
    assert refused.only_call.state == "released"
    assert notes(refused.only_call.id) == []


def test_a_repeated_form_gets_the_same_bytes(stage: Stage, pictures: PictureUpstream, model: str) -> None:
    caller = stage.caller(scopes=SCOPES)
    first, again = (post(caller, model, key="same") for _ in range(2))
    assert (again.content, again.headers["content-type"]) == (first.content, "image/x-test")
    assert again.headers["idempotent-replayed"] == "true"
    assert len(pictures.forms) == 1
    assert post(caller, model, key="same", more="x").json()["error"]["code"] == "idempotency_key_reused"


def test_a_kind_without_a_price_is_refused_before_anything_is_held(
    stage: Stage, pictures: PictureUpstream, model: str
) -> None:
    caller = stage.caller(scopes=SCOPES)
    refused = post(caller, model, kind="large/fine")
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "model_unavailable")
    assert (caller.calls, pictures.forms) == ([], [])


def test_an_answer_of_a_kind_without_a_price_is_reviewed() -> None:
    prices = PriceList.parse(PRICE)
    for kind, verdict in (("small/fine", Settle), ("large/fine", Review)):
        request = BoundedPictures(400, Upload({"kind": kind}, b"", b"", b""))
        assert isinstance(judge(Answer(PICTURE, None), request, prices, bills_errors=False), verdict)


@pytest.mark.parametrize("scopes", [("infer:*",), ("wallet:read",)])
def test_every_scope_that_the_route_names_is_needed(
    stage: Stage, pictures: PictureUpstream, model: str, scopes: tuple[str, ...]
) -> None:
    caller = stage.caller(scopes=scopes)
    refused = post(caller, model)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "insufficient_scope")
    assert (caller.calls, pictures.forms) == ([], [])


def test_a_record_is_read_before_the_hold_and_only_the_callers_own(
    stage: Stage, pictures: PictureUpstream, model: str
) -> None:
    caller, other = stage.caller(scopes=SCOPES), stage.caller(scopes=SCOPES)
    own, foreign = (Wallet.objects.get(owner_key=who.did).pk for who in (caller, other))
    refused = post(caller, model, wallet=foreign)
    assert (refused.status_code, refused.json()["error"]["param"]) == (404, "wallet")
    assert (caller.calls, pictures.forms) == ([], [])
    assert post(caller, model, wallet=own).status_code == 200


def test_truncated_bytes_are_left_to_review(stage: Stage, pictures: PictureUpstream, model: str) -> None:
    pictures.answer = (200, PICTURE, 100)
    caller = stage.caller(scopes=SCOPES)
    assert post(caller, model).json()["error"]["code"] == "upstream_error"
    assert caller.only_call.state == "review"
    assert notes(caller.only_call.id) == []


def test_a_stream_of_bytes_contains_only_the_upstreams_bytes(stage: Stage) -> None:
    row = stage.upstream_row(adapter="demo")
    model = stage.model("demo", price=PRICE, upstream=row, options={"routes": ["images.generations"]})
    caller = stage.caller(scopes=SCOPES)
    first, again = (post(caller, model, key="same", stream="yes") for _ in range(2))
    assert (first.content, first.headers["content-type"]) == (PICTURE * 2, "image/x-test")
    assert (again.content, again.headers["content-type"]) == (PICTURE * 2, "image/x-test")
    assert "x-service-charge-microusd" not in first.headers
    assert caller.wallet == {"balance": 999_800, "held": 0, "debt": 0}
    assert notes(caller.only_call.id) == ["streamed"]


@pytest.mark.parametrize(
    ("stream", "state", "reason"),
    [("broken", "review", "cut"), ("uncountable", "review", "usage_malformed"), ("beyond", "settled", None)],
)
def test_a_byte_stream_that_ends_early_is_aborted_and_never_replayed(
    stage: Stage, stream: str, state: str, reason: str | None
) -> None:
    row = stage.upstream_row(adapter="demo")
    model = stage.model("demo", price=PRICE, upstream=row, options={"routes": ["images.generations"]})
    caller = stage.caller(scopes=SCOPES)
    with pytest.raises(httpx.RemoteProtocolError, match="incomplete"):
        post(caller, model, key="same", stream=stream)
    call = caller.only_call
    assert (call.state, call.review_reason) == (state, reason)
    assert reviews.charge(call.id, cost_microusd=100) == (state == "review")
    again = post(caller, model, key="same", stream=stream)
    assert (again.status_code, again.json()["error"]["code"]) == (422, "idempotency_key_reused")
    assert caller.wallet == {"balance": 999_900, "held": 0, "debt": 0}


def test_preparing_a_request_may_change_its_hold(stage: Stage, pictures: PictureUpstream, model: str) -> None:
    poor, caller = stage.caller(scopes=SCOPES, balance=799), stage.caller(scopes=SCOPES, balance=800)
    refused = post(poor, model, times="2")
    assert (refused.status_code, refused.json()["error"]["code"]) == (402, "insufficient_funds")
    assert refused.json()["error"]["details"] == {"requiredMicrousd": 800, "availableMicrousd": 799}
    assert (poor.calls, pictures.forms) == ([], [])
    answer = post(caller, model, times="2")
    assert (answer.status_code, answer.headers["x-service-hold-microusd"]) == (200, "800")
    assert caller.wallet == {"balance": 600, "held": 0, "debt": 0}
