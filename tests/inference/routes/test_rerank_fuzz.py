"""Whatever a rerank request, or an answer to one, holds: it is valid, or refused in a known way, and its bytes are counted."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from billing.rules.prices import PriceList
from billing.rules.worst_case import WorstCase
from gateway.core.contract.errors import InputTooLarge, InvalidRequest
from gateway.core.json.pieces import canonical
from gateway.core.json.strict import strict_loads
from inference.adapters.exchange import NotJSONError
from inference.interface.answer import Answer
from inference.interface.model import DeploymentTarget, PriceVersion, ServedModel, UpstreamTarget
from inference.interface.upstream import Attempt, CallContext
from inference.routes.rerank.bound import BoundedRerank, bound_rerank
from inference.routes.rerank.members import RERANK_MEMBERS
from inference.routes.rerank.request import RerankRequest
from inference.routes.rerank.results import read_scores
from inference.routes.rerank.route import RERANK
from inference.rules.json_body import JsonBody
from inference.rules.verdicts import Review, Settle, judge
from inference.vendors.cohere.rerank import CohereRerank
from inference.vendors.voyage.rerank import VoyageRerank
from tests.inference.routes.test_chat_fuzz import PRICE as CHAT_PRICE

PRICES = PriceList.parse({"input_kilobyte": "7"})
PRICE = PriceVersion(1, CHAT_PRICE.effective_at, PRICES, WorstCase.of(PRICES), {})
LEAVES = st.none() | st.booleans() | st.integers(-2, 5) | st.just(10**18) | st.floats(-2, 2) | st.text(max_size=3)
TEXTS = st.text(alphabet="ab é🙂\u0301", min_size=1, max_size=12) | st.builds(
    lambda text, times: text * times, st.sampled_from(["d", "é", "🙂"]), st.sampled_from([500, 1024, 2048, 4090, 8001])
)


def model_at(*adapters: str, context_tokens: int | None = None) -> ServedModel:
    targets = [DeploymentTarget(name, UpstreamTarget(name, name, "http://u", "k"), "m") for name in adapters]
    return ServedModel("rerank", enabled=True, deployments=tuple(targets), context_tokens=context_tokens)


def bounded_of(body: dict[str, Any], model: ServedModel) -> BoundedRerank:
    members = strict_loads(json.dumps(body).encode())
    request = RERANK.check(JsonBody(members, len(canonical(members)), b"", b"", is_large=False), model)
    assert isinstance(request, RerankRequest)
    return bound_rerank(request, model, PRICE, 10**9)


@given(
    st.dictionaries(st.sampled_from(sorted(RERANK_MEMBERS)), LEAVES | st.lists(LEAVES, max_size=2), max_size=3),
    st.sampled_from(["voyage", "cohere", "demo"]),
)
def test_a_request_is_valid_or_refused(members: dict[str, Any], adapter: str) -> None:
    body = {"model": "rerank", "query": "q", "documents": ["d"], **members}
    refused = None
    try:
        assert bounded_of(body, model_at(adapter)).hold_microusd == 7
    except (InvalidRequest, InputTooLarge) as error:
        refused = error
    assert refused is None or refused.param is not None


@given(TEXTS, st.none() | TEXTS, st.lists(TEXTS, min_size=1, max_size=4))
def test_bytes_are_counted_as_the_contract_defines(query: str, instruction: str | None, documents: list[str]) -> None:
    body = {"model": "rerank", "query": query, "instruction": instruction, "documents": documents}
    extra = len((instruction or "").encode())
    paid_bytes = sum(len(text.encode()) + len(query.encode()) + extra for text in documents)
    pair = max(len(text.encode()) for text in documents) + len(query.encode()) + extra + 4 + (instruction is not None)
    fits = len(query.encode()) + extra + (instruction is not None) <= 2048 and pair <= 4096
    if not fits:
        with pytest.raises(InputTooLarge):
            bounded_of(body, model_at("voyage", "cohere"))
        return
    bounded = bounded_of(body, model_at("voyage", "cohere"))
    assert bounded.params.bound.input_bytes == paid_bytes
    assert bounded.hold_microusd == 7 * math.ceil(paid_bytes / 1000)


RESULT = st.fixed_dictionaries({}, optional={"index": LEAVES, "relevance_score": LEAVES})
RESULTS = st.lists(
    st.builds(lambda index: {"index": index, "relevance_score": 0.5}, st.integers(0, 2)) | RESULT | LEAVES, max_size=4
)


@pytest.mark.parametrize(("endpoint", "member"), [(VoyageRerank(), "data"), (CohereRerank(), "results")])
@given(
    results=RESULTS | LEAVES,
    usage=LEAVES | st.fixed_dictionaries({}, optional={"total_tokens": LEAVES}),
    top=st.integers(1, 5),
)
def test_an_answer_is_charged_or_reviewed(endpoint: Any, member: str, results: Any, usage: Any, top: int) -> None:
    body = {"model": "rerank", "query": "q", "documents": ["a", "b", "c"], "top_n": top}
    bounded = bounded_of(body, model_at("voyage"))
    attempt = Attempt(
        UpstreamTarget("u", "voyage", "http://u", "k"), "m", bounded, CallContext("use_1", "rerank", "rrk_1")
    )
    answer = {member: results, "usage": usage, "meta": {"tokens": usage}}
    try:
        endpoint.convert_answer(attempt, answer)
    except NotJSONError:
        return
    scores = [result["relevance_score"] for result in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    assert len({result["index"] for result in answer["results"]}) == min(top, 3)
    assert all(0 <= result["index"] < 3 for result in answer["results"])
    verdict = judge(Answer(answer, answer["usage"]), bounded, PRICES, bills_errors=False)
    assert isinstance(verdict, Settle | Review)
    assert not isinstance(verdict, Settle) or verdict.cost_microusd == 7


@pytest.mark.parametrize("score", [math.inf, -math.inf, math.nan])
def test_a_score_beyond_all_numbers_is_none(score: float) -> None:
    params = bounded_of({"model": "rerank", "query": "q", "documents": ["a"]}, model_at("voyage")).params
    with pytest.raises(NotJSONError):
        read_scores([{"index": 0, "relevance_score": score}], params)
