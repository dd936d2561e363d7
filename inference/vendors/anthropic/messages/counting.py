"""The vendor's count of a request's tokens."""

from typing import Any

import orjson

from billing.rules.quantities import QUANTITY_MAX
from gateway.core.contract.errors import ApiError
from gateway.core.outbound.client import Body
from gateway.core.outbound.timeouts import answer_timeout
from inference.adapters.errors import outcome_of_exception
from inference.adapters.exchange import post, read_object
from inference.interface.upstream import Attempt
from inference.routes.messages.counting import CountRequest
from inference.routes.messages.headers import headers_of
from inference.rules.json_body import JSON_TYPE
from inference.vendors.anthropic.messages.blocks import without_foreign_thinking

COUNT_SECONDS = 10.0
PATH = "/messages/count_tokens"


async def count_tokens(attempt: Attempt[Any], request: CountRequest) -> int | None:
    """Return the count, None if the upstream gave none. Raises nothing except cancellation."""
    try:
        return await _count(attempt, request)
    except ApiError:
        return None
    except Exception as error:  # noqa: BLE001 - our own bound answers in its place
        outcome_of_exception(attempt, error)  # logs it
        return None


async def _count(attempt: Attempt[Any], request: CountRequest) -> int | None:
    messages = without_foreign_thinking(request.body["messages"])
    body = Body(JSON_TYPE, orjson.dumps({**request.body, "messages": messages, "model": attempt.upstream_model}))
    phases = answer_timeout(min(attempt.target.timeout_seconds, COUNT_SECONDS))
    headers = headers_of(request.version, request.betas)
    response = await post(attempt, PATH, body, accept=JSON_TYPE, phases=phases, more_headers=headers)
    try:
        counted = (await read_object(response)).get("input_tokens") if response.status == 200 else None
    finally:
        response.close()
    return counted if type(counted) is int and 0 <= counted <= QUANTITY_MAX else None
