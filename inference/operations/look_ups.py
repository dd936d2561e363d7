"""Requests an upstream's own record of a call with an unknown outcome, if the operator says that it has such records.

The public vendor has none: its stored responses can be retrieved only by their own id, which a lost response did not
deliver, and nothing is stored there. Aggregators send the id of a generation in the response's headers.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import aiohttp

from billing.models import Call
from billing.operations.reviews import Finding
from billing.rules.cost import cost_microusd, usage_of
from billing.rules.prices import PriceList
from billing.rules.quantities import MalformedUsage
from gateway.core.contract.aliases import Route
from gateway.core.outbound.aiohttp_internals import HttpProcessingError
from gateway.core.outbound.client import close_client
from gateway.core.outbound.failures import InterimResponsesError, MisconfiguredError, NotSentError, TooLargeError
from gateway.core.outbound.redaction import redacted
from inference.adapters.exchange import NotJSONError, get_object
from inference.interface.model import UpstreamTarget
from inference.queries import upstreams
from inference.rules.service_tiers import charged_tier
from inference.rules.usage import MissingUsage, read_generation, read_generation_tier

log = logging.getLogger("inference.look_ups")

ROUTES = frozenset({Route.CHAT_COMPLETIONS, Route.MESSAGES, Route.RESPONSES})
"""The routes that are charged only by tokens, which is what a record counts."""

AUDIO_COMPONENTS = frozenset({"input_audio_token", "output_audio_token"})
"""Tokens with a separate price that a record does not distinguish from others."""

ASK_SECONDS = 3.0

_NO_RECORD = (
    *(NotJSONError, TooLargeError, MisconfiguredError, NotSentError, InterimResponsesError),
    *(aiohttp.ClientError, HttpProcessingError, TimeoutError, OSError),
)


def look_up(call: Call) -> Finding | None:
    """Return the findings of the upstream's record of a call, or None if it has none (yet), or one that cannot be
    charged."""
    generation_id = (call.evidence or {}).get("generation_id")
    if call.route not in ROUTES or not isinstance(generation_id, str):
        return None
    prices = PriceList.parse(call.price_version.components)
    target = None if prices.components & AUDIO_COMPONENTS else upstreams.looked_up_for(call.deployment or "")
    record = _ask(target, generation_id) if target else None
    return _finding(call, prices, record, generation_id) if record is not None else None


def _ask(target: UpstreamTarget, generation_id: str) -> Mapping[str, Any] | None:
    try:
        return asyncio.run(_get(target, generation_id))
    except _NO_RECORD as error:
        message = redacted(f"upstream {target.name} has no record of {generation_id}: {error!r}", [target.api_key])
        log.warning("%s", message)
        return None


async def _get(target: UpstreamTarget, generation_id: str) -> Mapping[str, Any]:
    try:
        return await get_object(target, "/generation", {"id": generation_id}, ASK_SECONDS)
    finally:
        await close_client()


def _finding(call: Call, prices: PriceList, record: Mapping[str, Any], generation_id: str) -> Finding | None:
    try:
        used = read_generation(record, generation_id)
        requested = (call.evidence or {}).get("service_tier")
        used = replace(used, service_tier=charged_tier(read_generation_tier(record), requested, prices))
    except (MissingUsage, MalformedUsage) as error:
        log.warning("call %s: the record %s cannot be charged: %s", call.id, generation_id, error)
        return None
    return Finding(cost_microusd(used, prices), usage_of(used, prices))
