"""The demo's representations, without a model and with the local one: honest about themselves, and paid like any other."""

import base64
from typing import Any

import numpy as np
import pytest

from tests.factories.images import JPEG, PNG
from tests.inference.routes.sdk import sdk
from tests.inference.routes.vectors import alias_options
from tests.support.stage import EMBEDDINGS, Caller, Stage

CONTEXTUAL = "/v1/embeddings/contextual"
LATE_INTERACTION = "/v1/late-interaction/score"
BALANCE = 1_000_000
QUERY = "a pet that barks"
NEAR, FAR = "The dog made noise all night.", "Interest rates went up again."


@pytest.fixture(params=[False, True], ids=["hashed", "model"])
def local_model(request: pytest.FixtureRequest, settings: Any) -> bool:
    settings.LOCAL_MODEL = request.param
    return bool(request.param)


def ask(stage: Stage, path: str, model: str = "demo-model", price: Any = None, **members: Any) -> tuple[Caller, Any]:
    row = stage.upstream_row(adapter="demo", base_url="", api_key="")
    price = price or {"input_token": "2"}
    alias = stage.model(model, upstream=row, price=price, options=alias_options(path), context_tokens=400)
    caller = stage.caller(balance=BALANCE)
    return caller, caller.post({"model": alias, **members}, path=path)


def assert_charged(caller: Caller, answer: Any) -> None:
    call = caller.only_call
    assert answer.status_code == 200, answer.text
    assert call.charge_microusd == 2 * answer.json()["usage"]["prompt_tokens"]
    assert 0 < call.charge_microusd <= call.hold_microusd
    assert caller.wallet["balance"] == BALANCE - call.charge_microusd


def vectors_of(answer: Any) -> Any:
    return np.array([item["embedding"] for item in answer.json()["data"]])


def test_embeddings_say_what_made_them(stage: Stage, local_model: bool) -> None:
    caller, answer = ask(stage, EMBEDDINGS, input=[QUERY, NEAR, FAR], input_type="document")
    assert_charged(caller, answer)
    manifest = answer.json()["manifest"]
    known = {name: manifest[name] for name in ("provider", "model", "revision", "dimensions", "normalized")}
    assert known == {
        "provider": "demo",
        "model": "demo-model",
        "revision": "all-MiniLM-L6-v2" if local_model else "hashed-ngrams-1",
        "dimensions": 384 if local_model else 256,
        "normalized": True,
    }
    assert np.linalg.norm(vectors_of(answer), axis=1) == pytest.approx(1, abs=1e-6)


def test_the_local_model_tells_meaning(stage: Stage, settings: Any) -> None:
    settings.LOCAL_MODEL = True
    _, answer = ask(stage, EMBEDDINGS, input=[QUERY, NEAR, FAR])
    assert "manifest" not in answer.json()
    query, near, far = vectors_of(answer)
    assert query @ near > query @ far + 0.2


def test_contextual_embeddings_lean_towards_their_document(stage: Stage, local_model: bool) -> None:
    members: dict[str, Any] = {"input_type": "document", "documents": [[NEAR, FAR], [NEAR], [NEAR, NEAR]]}
    caller, answer = ask(stage, CONTEXTUAL, **members, dimensions=2048)
    assert_charged(caller, answer)
    groups = [np.array([item["embedding"] for item in group["data"]]) for group in answer.json()["data"]]
    assert [group.shape for group in groups] == [(2, 2048), (1, 2048), (2, 2048)]
    for group in groups:
        assert np.linalg.norm(group, axis=1) == pytest.approx(1, abs=1e-6)
    by_itself, among_equals, in_company = groups[1][0], groups[2][0], groups[0][0]
    assert by_itself @ among_equals == pytest.approx(1, abs=1e-5)
    assert 0.8 < by_itself @ in_company < 0.999
    assert groups[0][0] @ groups[0][1] > groups[1][0] @ groups[0][1]


def test_contextual_embeddings_of_eight_bits(stage: Stage, local_model: bool) -> None:
    _, answer = ask(stage, CONTEXTUAL, input_type="query", queries=[QUERY], quantization="int8")
    [[vector]] = [[item["embedding"] for item in group["data"]] for group in answer.json()["data"]]
    assert len(vector) == 1024
    assert all(type(value) is int and -127 <= value <= 127 for value in vector)
    assert any(vector)


def test_late_interaction_finds_the_words(stage: Stage, local_model: bool) -> None:
    text = "🦡 Then the dog barks"
    documents = [{"id": "far", "text": FAR}, {"id": "near", "text": text}, {"id": "none", "text": ""}]
    caller, answer = ask(stage, LATE_INTERACTION, query="dog", documents=documents, top_spans=1)
    assert_charged(caller, answer)
    found = answer.json()["data"]
    assert found[0]["id"] == "near"
    assert [one["spans"] for one in found if one["id"] == "none"] == [[]]
    [span] = found[0]["spans"]
    units = text.encode("utf-16-le")[2 * span["start"] : 2 * span["end"]]
    assert units.decode("utf-16-le") == "dog"


@pytest.mark.parametrize(
    ("path", "members"),
    [
        (EMBEDDINGS, {"input": ["word " * 600], "input_type": "query"}),
        (EMBEDDINGS, {"input": ["word " * 600]}),
        (CONTEXTUAL, {"input_type": "query", "queries": ["word " * 600]}),
        (LATE_INTERACTION, {"query": "x", "documents": [{"id": "a", "text": "word " * 600}]}),
    ],
)
def test_what_the_local_model_cannot_read_costs_nothing(stage: Stage, settings: Any, path: str, members: Any) -> None:
    settings.LOCAL_MODEL = True
    caller, answer = ask(stage, path, **members)
    error = answer.json()["error"]
    assert (answer.status_code, error["details"]["code"]) == (400, "context_length_exceeded")
    assert error["param"] is not None
    assert caller.only_call.state == "released"
    assert caller.wallet == {"balance": BALANCE, "held": 0, "debt": 0}


def data_url(data: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def image(data: bytes) -> Any:
    return {"type": "image_url", "image_url": {"url": data_url(data)}}


def test_images_are_embedded_by_their_own_model(stage: Stage, local_model: bool) -> None:
    inputs = [image(PNG), image(PNG), image(JPEG), "text"]
    caller, answer = ask(stage, EMBEDDINGS, "demo-embedding-image", {"input_item": "40"}, input=inputs)
    first, same, other, _ = vectors_of(answer)
    assert (first == same).all()
    assert not (first == other).all()
    assert answer.json()["manifest"]["revision"] == "hashed-ngrams-1"
    assert caller.only_call.charge_microusd == 160


def test_the_texts_model_takes_no_images(stage: Stage, local_model: bool) -> None:
    caller, answer = ask(stage, EMBEDDINGS, input=["x", image(PNG)])
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, "images_unsupported", "input.1")
    assert caller.only_call.state == "released"


def test_the_vendors_sdk_reads_both_paths(stage: Stage, local_model: bool) -> None:
    row = stage.upstream_row(adapter="demo", base_url="", api_key="")
    alias = stage.model(upstream=row, price={"input_token": "2"}, options=alias_options(EMBEDDINGS))
    with sdk(stage.caller()) as client:
        create = client.embeddings.create
        plain = create(model=alias, input=[NEAR])
        represented = create(model=alias, input=[NEAR], extra_body={"input_type": "document"})
        numbers = create(model=alias, input=[NEAR], encoding_format="float", extra_body={"truncation": False})
    assert plain.data[0].embedding == pytest.approx(represented.data[0].embedding, abs=1e-6)
    assert represented.data[0].embedding == pytest.approx(numbers.data[0].embedding, abs=1e-6)
    assert plain.usage == represented.usage
    assert represented.model_extra is not None
    assert len(represented.model_extra["manifest_id"]) == 64
