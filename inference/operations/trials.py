"""Tries a deployment: one real call with the smallest request of a route, for an operator who wants to see whether it works.

It takes the path of every call, from the route's own checks to the endpoint and the outbound client, but no hold is placed and no
wallet charged. It leaves circuit breakers and alarms alone. A trial is begun once for each id, whatever happens to the process.
"""

import asyncio
import time
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import orjson
from django.db import IntegrityError, transaction

from billing.models import PriceVersion as PriceVersionRow
from billing.queries import costs, prices
from billing.rules.cost import cost_microusd
from billing.rules.costs import upstream_cost_microusd
from billing.rules.prices import PriceError, PriceList
from billing.rules.quantities import MalformedUsage, Quantities
from billing.rules.worst_case import WorstCase
from gateway.core.contract.aliases import Route
from gateway.core.contract.errors import ApiError
from gateway.core.contract.ids import new_id
from gateway.core.outbound.client import close_client
from gateway.core.outbound.redaction import redacted
from inference.adapters.errors import describe
from inference.adapters.exchange import Refusal
from inference.interface.answer import Answer
from inference.interface.model import DeploymentTarget, PriceVersion, ServedModel, UpstreamTarget
from inference.interface.plan import endpoint_of
from inference.interface.request import BoundedRequest
from inference.interface.upstream import Ambiguous, Attempt, CallContext, Failed, Outcome, Overloaded, Rejected
from inference.metering.route import MeteredRoute, PendingRequest
from inference.metering.served import routes
from inference.models import Deployment, RawModel, Trial, Upstream
from inference.models.trial import KEPT_DAYS, KEPT_OF_DEPLOYMENT
from inference.queries.rows import deployment_id, target_of
from inference.rules.trials import OUTPUT_TOKENS, ROUTES, beginning_of, body_for, stand_in_prices
from inference.rules.usage import MissingUsage

TIMEOUT_MAX_SECONDS = 30.0
"""The longest that an operator waits. A slower upstream's calls may still work."""

KEYS = {"current": "api_key", "next": "next_api_key", "previous": "previous_api_key"}
"""Which of the upstream's keys is sent, and its column."""

MAX_COST_MICROUSD = 10**15


class RefusedError(Exception):
    """The deployment cannot be tried like this. The message is a sentence for the operator."""


@dataclass(slots=True)
class Result:
    """What came of a trial. `outcome` is `answered`, `refused`, `overloaded`, `unreachable`, `failed` or `unclear`; `status` the
    upstream's, if it answered. `text` is the answer's beginning, `cause` what went wrong, without secrets. `cost_microusd` is
    what the upstream charges the operator, `charge_microusd` what a caller would have been charged; None if unknown."""

    outcome: str = "unclear"
    status: int | None = None
    milliseconds: int = 0
    usage: dict[str, int | str] = field(default_factory=dict)
    text: str = ""
    cause: str = ""
    cost_microusd: int | None = None
    charge_microusd: int | None = None


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What a trial needs, read before the call begins."""

    route: MeteredRoute[Any, Any]
    target: UpstreamTarget
    row: Deployment | RawModel
    model: ServedModel
    price: PriceVersion
    is_priced: bool
    costs: PriceList | None


def try_deployment(
    row: Deployment | RawModel, *, trial_id: str, route: Route, key: str, operator: str, now: datetime
) -> tuple[Trial, bool]:
    """Make the call and return the trial with its result, and whether this request began it.

    Raises RefusedError before anything is sent.
    """
    prepared = _prepare(row, route, key, now)
    trial = Trial(id=trial_id, deployment=deployment_id(row), route=route, key=key, operator=operator, began_at=now)
    try:
        with transaction.atomic():
            trial.save(force_insert=True)
    except IntegrityError:
        return Trial.objects.get(pk=trial_id), False
    _forget_old(trial)
    trial.result = asdict(asyncio.run(_send(prepared, trial_id)))
    trial.save(update_fields=["result"])
    return trial, True


def triable_routes(row: Deployment | RawModel) -> list[Route]:
    """List the routes of a deployment that can be tried, in the order of its model's."""
    model = row if isinstance(row, RawModel) else row.alias
    served = routes()
    return [
        name
        for name in model.served_routes()
        if name in ROUTES and name in served and _endpoint(served[name][0], target_of(row.upstream)) is not None
    ]


def keys_of(upstream: Upstream) -> list[str]:
    """Name the keys that an upstream has, the current one first."""
    return [name for name, column in KEYS.items() if name == "current" or getattr(upstream, column)]


def _prepare(row: Deployment | RawModel, route: Route, key: str, now: datetime) -> _Prepared:
    upstream = row.upstream
    if upstream.adapter != Upstream.Adapter.DEMO:
        if not upstream.base_url:
            raise RefusedError(f"The upstream {upstream} has no base URL.")
        if not getattr(upstream, KEYS[key]):
            raise RefusedError(f"The upstream {upstream} has no such key.")
    if route not in triable_routes(row):
        raise RefusedError(f"The upstream {upstream} cannot be tried on {route}.")
    target = replace(
        target_of(upstream),
        api_key=getattr(upstream, KEYS[key]),
        other_keys=(),
        timeout_seconds=min(upstream.timeout_seconds, TIMEOUT_MAX_SECONDS),
    )
    served = row if isinstance(row, RawModel) else row.alias
    version = prices.in_force(str(served), now)
    price, is_priced = _price(version, route, now)
    cost = costs.in_force(deployment_id(row), now)
    return _Prepared(
        route=routes()[route][0],
        target=target,
        row=row,
        model=_model(served, DeploymentTarget(deployment_id(row), target, row.model), price),
        price=price,
        is_priced=is_priced,
        costs=PriceList.parse(cost.components) if cost and cost.components else None,
    )


def _price(version: PriceVersionRow | None, route: Route, now: datetime) -> tuple[PriceVersion, bool]:
    """Return the model's price, or one that serves the route, and whether it is the model's."""
    found = PriceList.parse(version.components) if version else PriceList()
    if version is None or not found.serves(route):
        version, found = None, PriceList.parse(stand_in_prices(route))
    worst_case = WorstCase.of(found)
    return PriceVersion(version.pk if version else 0, now, found, worst_case, {}), version is not None


def _model(served: Any, target: DeploymentTarget, price: PriceVersion) -> ServedModel:
    return ServedModel(
        name=str(served),
        enabled=True,
        max_output_tokens=OUTPUT_TOKENS,
        context_tokens=served.context_tokens,
        routes=served.served_routes(),
        deployments=(target,),
        versions=(price,),
        options=served.options,
    )


def _endpoint(route: MeteredRoute[Any, Any], target: UpstreamTarget) -> Any:
    return endpoint_of(route.name, route.endpoints, target.adapter, target.routes)


class _Request:
    """The request of a trial, as the route reads it."""

    method, raw_path, request_id = "POST", b"/", ""
    raw_headers = ((b"content-type", b"application/json"),)

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def read_body(self, limit_bytes: int) -> bytes:
        """Return the body, which is small."""
        return self._body


async def _send(prepared: _Prepared, trial_id: str) -> Result:
    """Send the call. Raises nothing: whatever happens is the result."""
    result, began = Result(), time.monotonic()
    try:
        request = await _bounded(prepared)
        began = time.monotonic()
        outcome = await _outcome(prepared, request, trial_id, result)
        result.milliseconds = round((time.monotonic() - began) * 1000)
        _note(prepared, request, outcome, result)
    except ApiError as error:
        result.outcome, result.cause = "failed", f"the gateway itself refuses the request: {error.message}"
    except Exception as error:  # noqa: BLE001 - the operator wants to know any cause
        result.milliseconds = round((time.monotonic() - began) * 1000)
        result.outcome, result.cause = "failed", f"{type(error).__name__}: {error}"
    finally:
        await close_client()
    secrets = [getattr(prepared.row.upstream, column) for column in KEYS.values()]
    result.cause, result.text = redacted(result.cause, secrets), redacted(result.text, secrets)
    return result


async def _bounded(prepared: _Prepared) -> BoundedRequest:
    """Build the route's request from its body, with the checks of every call. Raises ApiError."""
    route, model = prepared.route, prepared.model
    body = body_for(route.name, model.name, prepared.price.prices)
    sent: Any = _Request(orjson.dumps(body))
    valid = route.check(await route.read(sent), model)
    assert not isinstance(valid, PendingRequest)
    endpoint = _endpoint(route, prepared.target)
    if endpoint.translates and (refusal := endpoint.refusal(valid)):
        raise refusal
    return route.bound(valid, model, prepared.price, MAX_COST_MICROUSD)


async def _outcome(prepared: _Prepared, request: BoundedRequest, trial_id: str, result: Result) -> Outcome:
    def note_refusal(status: int, body: Any) -> None:
        result.status, result.cause = status, describe(attempt, Refusal(status, {}, body))

    context = CallContext(
        usage_id=trial_id,
        public_model=prepared.model.name,
        public_id=request.public_id or new_id(prepared.route.id_prefix),
        on_refusal=note_refusal,
    )
    attempt: Attempt[Any] = Attempt(prepared.target, prepared.row.model, request, context)
    outcome: Outcome = await _endpoint(prepared.route, prepared.target).send(attempt)
    return outcome


def _note(prepared: _Prepared, request: BoundedRequest, outcome: Outcome, result: Result) -> None:
    match outcome:
        case Answer():
            result.outcome, result.status = "answered", 200
            _note_answer(prepared, request, outcome, result)
        case Rejected(error=error, alarm=alarm):
            result.outcome = "refused"
            result.cause = result.cause or (alarm.text if alarm else error.private or error.message)
        case Overloaded(cause=cause):
            result.outcome, result.cause = "overloaded", result.cause or cause or ""
        case Failed(status=status, cause=cause):
            result.outcome, result.status, result.cause = "failed", status, result.cause or cause or ""
        case Ambiguous(error=error, reason=reason):
            result.outcome, result.cause = "unclear", f"{reason}: {error.private or error.message}"
        case _:
            result.outcome, result.cause = "unreachable", outcome.cause


def _note_answer(prepared: _Prepared, request: BoundedRequest, answer: Answer, result: Result) -> None:
    content = request.content(answer)
    result.text = beginning_of(content.media_type, content.body)
    try:
        used = request.usage(answer)
    except MissingUsage:
        result.cause = "The answer has no usage. Calls of customers would wait for review."
    except (MalformedUsage, PriceError) as error:
        result.cause = f"The usage cannot be charged: {error}. Calls of customers would wait for review."
    else:
        result.usage = {**used.counts()}
        _note_money(prepared, used, result)


def _note_money(prepared: _Prepared, used: Quantities, result: Result) -> None:
    try:
        if prepared.is_priced:
            result.charge_microusd = cost_microusd(used, prepared.price.prices)
        if prepared.costs is not None:
            result.cost_microusd = upstream_cost_microusd(used, prepared.costs, used.service_tier)
    except PriceError as error:
        result.cause = f"The usage cannot be charged: {error}. Calls of customers would wait for review."


def _forget_old(trial: Trial) -> None:
    """Keep only the last trials of a deployment, and none of a long time ago."""
    Trial.objects.filter(began_at__lt=trial.began_at - timedelta(days=KEPT_DAYS)).delete()
    of_same = Trial.objects.filter(deployment=trial.deployment).order_by("-began_at", "-id")
    Trial.objects.filter(pk__in=list(of_same.values_list("pk", flat=True)[KEPT_OF_DEPLOYMENT:])).delete()
