"""No model route bypasses the metering core: each is found in the URL map, and holds, charges and refuses like every other."""

import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from django.urls import get_resolver

from inference.metering.route import MeteredRoute
from inference.metering.serving import MeteredViewSet
from inference.urls import metered_urlpatterns
from tests.contract.endpoints import ADDITIONS, MODEL, MODELS
from tests.contract.routes import mapped_routes
from tests.factories.audio import wav
from tests.support.forms import form
from tests.support.stage import MESSAGES, PRICE, Caller, Stage, ask, chat
from tests.support.vector_upstreams import RepresentationUpstream

PATHS = sorted(route.path for route in mapped_routes() if route.access.model and not route.access.free)

FREE = sorted(route.path for route in mapped_routes() if route.access.free)

# A small honest request for each route, by its path.
BODIES: dict[str, Any] = {
    "/v1/audio/speech": lambda model: {"model": model, "input": "Badgers sleep.", "voice": "alloy"},
    "/v1/audio/transcriptions": lambda model: form(wav(2.5), [("model", model)]),
    "/v1/audio/translations": lambda model: form(wav(2.5), [("model", model)]),
    "/v1/chat/completions": chat,
    "/v1/embeddings": lambda model: {"model": model, "input": "Say something about badgers."},
    "/v1/embeddings/contextual": lambda model: {"model": model, "input_type": "query", "queries": ["Badgers?"]},
    "/v1/late-interaction/score": lambda model: {
        "model": model,
        "query": "Badgers?",
        "documents": [{"id": "a", "text": "They dig."}],
    },
    "/v1/images/generations": lambda model: {"model": model, "prompt": "A badger in the rain."},
    "/v1/messages": lambda model: {"model": model, "max_tokens": 20, "messages": MESSAGES},
    "/v1/rerank": lambda model: {"model": model, "query": "badgers", "documents": ["Badgers dig.", "Foxes run."]},
    "/v1/responses": ask,
}

# What serves a route where it is not the vendor's own API, priced by its tokens.
SERVED: dict[str, dict[str, Any]] = {
    "/v1/audio/speech": {"price": {"input_character": "15"}},
    "/v1/audio/transcriptions": {"price": {"audio_second": "100"}},
    "/v1/audio/translations": {"price": {"audio_second": "100"}},
    "/v1/images/generations": {"price": {"image": "40"}},
    "/v1/rerank": {"adapter": "voyage", "price": {"input_kilobyte": "20"}},
}


BYTES = {"/v1/audio/speech"}
"""Routes that answer with bytes, in which there is no place for the charge."""


# What only an upstream of vectors serves.
VECTORS = {"/v1/embeddings/contextual", "/v1/late-interaction/score"}


@pytest.fixture(scope="module")
def vectors() -> Iterator[RepresentationUpstream]:
    with RepresentationUpstream() as running:
        yield running


@pytest.fixture(autouse=True)
def _with_vectors(stage: Stage, vectors: RepresentationUpstream) -> None:
    """Put an empty upstream of vectors beside the vendor's."""
    vectors.requests.clear()
    stage.vectors = vectors


def keys_sent(stage: Stage) -> list[str | None]:
    """List the idempotency keys of everything that arrived upstream."""
    return [*(entry.caller_key for entry in stage.upstream.ledger), *(call.key for call in stage.vectors.requests)]


def view_of(path: str) -> Any:
    match = get_resolver().resolve(path)
    return match.func.cls, match.func.actions["post"]  # type: ignore[attr-defined]


def model_for(stage: Stage, path: str, **fields: Any) -> str:
    view, _ = view_of(path)
    served = SERVED.get(path, {})
    if fields.get("price", PRICE) is not None:
        fields["price"] = served.get("price", PRICE)
    if path in VECTORS:
        upstream = stage.upstream_row(adapter="representation", base_url=stage.vectors.base_url)
    else:
        upstream = stage.upstream_row(adapter=served.get("adapter", "openai"))
    options = {"routes": [str(view.route.name)]}
    return stage.model(max_output_tokens=20, options=options, upstream=upstream, **fields)


def assert_nothing_happened(stage: Stage, caller: Caller) -> None:
    assert caller.calls == []
    assert keys_sent(stage) == []


def test_every_model_route_that_is_specified_or_added_is_one_of_the_core() -> None:
    specified = {row.path for row in MODELS if row.needs == MODEL}
    added = {path for _, path in ADDITIONS}
    mapped = {route.path for route in mapped_routes() if not route.access.free}
    assert specified & mapped == set(PATHS) - added
    assert sorted(f"/{pattern.pattern}" for pattern in metered_urlpatterns) == sorted([*PATHS, *FREE])


@pytest.mark.parametrize("path", PATHS)
def test_a_model_route_does_nothing_but_serve_itself_through_the_core(path: str) -> None:
    view, action = view_of(path)
    assert issubclass(view, MeteredViewSet)
    assert isinstance(view.route, MeteredRoute)
    assert view.serve is MeteredViewSet.serve
    *_, last = inspect.getsource(getattr(view, action)).strip().splitlines()
    assert last.strip() == "return await self.serve(request)"


def test_no_two_routes_have_a_name_in_common() -> None:
    names = [view_of(path)[0].route.name for path in PATHS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("path", PATHS)
def test_it_is_held_before_it_is_sent_and_charged_once(stage: Stage, path: str) -> None:
    alias, caller = model_for(stage, path), stage.caller(balance=10_000)
    first = caller.post(BODIES[path](alias), path=path, key="same")
    sent = keys_sent(stage)
    again = caller.post(BODIES[path](alias), path=path, key="same")
    call = caller.only_call
    assert (first.status_code, call.state) == (200, "settled")
    assert first.headers["x-service-usage-id"] == call.id == sent[0]
    assert first.headers["x-service-hold-microusd"] == str(call.hold_microusd)
    charge = None if path in BYTES else str(call.charge_microusd)
    assert first.headers.get("x-service-charge-microusd") == charge
    assert 0 < call.charge_microusd <= call.hold_microusd
    assert (again.content, again.headers["idempotent-replayed"]) == (first.content, "true")
    assert caller.wallet == {"balance": 10_000 - call.charge_microusd, "held": 0, "debt": 0}
    assert keys_sent(stage) == sent


@pytest.mark.parametrize(
    ("options", "status", "code"),
    [
        ({"key": None}, 400, "idempotency_key_required"),
        ({"max_cost": None}, 400, "max_cost_required"),
        ({"max_cost": 1}, 402, "max_cost_exceeded"),
        ({"headers": {"DPoP": None}}, 401, "invalid_dpop_proof"),
    ],
)
@pytest.mark.parametrize("path", PATHS)
def test_it_needs_a_proof_a_key_and_a_maximum(
    stage: Stage, path: str, options: dict[str, Any], status: int, code: str
) -> None:
    price = {"input_token": "15", "output_token": "15", "input_character": "15", "audio_second": "100"}
    alias, caller = model_for(stage, path, price=price), stage.caller()
    refused = caller.post(BODIES[path](alias), path=path, **options)
    assert (refused.status_code, refused.json()["error"]["code"]) == (status, code)
    assert_nothing_happened(stage, caller)


@pytest.mark.parametrize("path", PATHS)
def test_it_takes_no_body_with_a_content_coding(stage: Stage, path: str) -> None:
    alias, caller = model_for(stage, path), stage.caller()
    body = BODIES[path](alias)
    refused = caller.post(body, path=path, headers={"Content-Encoding": "identity, GZip"})
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["param"]) == (415, "unsupported_media_type", "Content-Encoding")
    assert refused.headers["accept-encoding"] == "identity"
    assert_nothing_happened(stage, caller)
    assert caller.post(body, path=path, headers={"Content-Encoding": "Identity"}).status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_it_needs_money(stage: Stage, path: str) -> None:
    alias, caller = model_for(stage, path), stage.caller(balance=0)
    refused = caller.post(BODIES[path](alias), path=path)
    assert (refused.status_code, refused.json()["error"]["code"]) == (402, "insufficient_funds")
    assert_nothing_happened(stage, caller)


@pytest.mark.parametrize("path", PATHS)
def test_it_needs_the_models_scope(stage: Stage, path: str) -> None:
    alias, caller = model_for(stage, path), stage.caller(scopes=("infer:other", "wallet:read"))
    refused = caller.post(BODIES[path](alias), path=path)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "insufficient_scope")
    assert_nothing_happened(stage, caller)


@pytest.mark.parametrize("path", PATHS)
def test_it_needs_a_price(stage: Stage, path: str) -> None:
    alias, caller = model_for(stage, path, price=None), stage.caller()
    refused = caller.post(BODIES[path](alias), path=path)
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "model_unavailable")
    assert_nothing_happened(stage, caller)
