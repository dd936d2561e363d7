"""Builds the immutable values that calls use from the operator's rows."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from datetime import datetime

from django.conf import settings

from billing.models import CostVersion as CostVersionRow
from billing.models import PriceVersion as PriceVersionRow
from billing.rules.prices import PriceError, PriceList
from billing.rules.worst_case import WorstCase
from gateway.core.contract.aliases import Route
from gateway.core.runtime.logs import RecurringLog
from inference.interface.model import CostVersion, DeploymentTarget, PriceVersion, ServedModel, UpstreamTarget
from inference.models import Alias, Deployment, RawModel, Upstream

RAW_PREFIX = "raw:"
"""The prefix of a raw model's deployment id, which distinguishes it from deployments' ids."""

_unreadable = RecurringLog("inference.catalogue", logging.ERROR)

Versions = Mapping[str, tuple[PriceVersion, ...]]
Costs = Mapping[str, tuple[CostVersion, ...]]


def deployment_id(row: Deployment | RawModel) -> str:
    """Return the id by which calls and costs name a deployment, or a raw model as its own deployment."""
    return f"{RAW_PREFIX}{row.pk}" if isinstance(row, RawModel) else str(row.pk)


def of_alias(alias: Alias, versions: Versions, costs: Costs) -> ServedModel:
    """Build an alias with its usable deployments and its prices."""
    return ServedModel(
        name=alias.name,
        enabled=alias.enabled,
        max_output_tokens=alias.max_output_tokens,
        context_tokens=alias.context_tokens,
        routes=alias.served_routes(),
        deployments=_deployments(alias.deployments.all(), costs),
        versions=versions.get(alias.name, ()),
        options=alias.options,
    )


def of_raw_model(raw: RawModel, versions: Versions, costs: Costs) -> ServedModel:
    """Build a raw model, which its upstream has under the same name."""
    key = deployment_id(raw)
    target = DeploymentTarget(id=key, upstream=target_of(raw.upstream), model=raw.model, costs=costs.get(key, ()))
    return ServedModel(
        name=raw.model,
        enabled=raw.enabled,
        max_output_tokens=raw.max_output_tokens,
        context_tokens=raw.context_tokens,
        routes=raw.served_routes(),
        deployments=() if fault_of(raw.upstream) else (target,),
        versions=versions.get(raw.model, ()),
        issuers=frozenset(integration.issuer for integration in raw.integrations.all()),
        options=raw.options,
    )


def _deployments(rows: Iterable[Deployment], costs: Costs) -> tuple[DeploymentTarget, ...]:
    usable = [row for row in rows if row.enabled and fault_of(row.upstream) is None]
    return tuple(
        DeploymentTarget(
            id=deployment_id(row),
            upstream=target_of(row.upstream),
            model=row.model,
            priority=row.priority,
            weight=row.weight,
            costs=costs.get(deployment_id(row), ()),
        )
        for row in sorted(usable, key=lambda row: (row.priority, row.pk))
    )


def fault_of(upstream: Upstream) -> str | None:
    """Return why calls cannot use an upstream, or None: it must be enabled, with an address and a credential, or the
    demo if that is allowed.
    """
    if not upstream.enabled:
        return f"upstream {upstream.name} is disabled"
    if upstream.adapter == Upstream.Adapter.DEMO:
        return (
            None if settings.DEMO_ADAPTER else f"upstream {upstream.name} is the demo, which never serves in production"
        )
    if not upstream.base_url:
        return f"upstream {upstream.name} has no base URL"
    return None if upstream.api_key else f"upstream {upstream.name} has no API key"


def known_routes(upstream: Upstream) -> frozenset[Route] | None:
    """Return the routes that an upstream is configured to support, or None for all of its adapter's."""
    configured = upstream.options.get("routes")
    return frozenset(map(Route, configured)) if configured else None


def target_of(row: Upstream) -> UpstreamTarget:
    """Build the immutable form of an upstream for calls."""
    return UpstreamTarget(
        name=row.name,
        adapter=row.adapter,
        base_url=row.base_url,
        api_key=row.api_key,
        timeout_seconds=row.timeout_seconds,
        bills_errors=row.bills_errors,
        fetches_images=row.fetches_images,
        routes=known_routes(row),
        options=row.options,
        other_keys=row.other_api_keys,
    )


def versions_until(horizon: datetime, models: Set[str]) -> dict[str, tuple[PriceVersion, ...]]:
    """Read every version of these models in force now or before `horizon`, newest first."""
    found: dict[str, list[PriceVersion]] = defaultdict(list)
    rows = PriceVersionRow.objects.filter(alias__in=models, effective_at__lte=horizon)
    for row in rows.order_by("alias", "-effective_at"):
        found[row.alias].append(_version(row))
    return {alias: tuple(versions) for alias, versions in found.items()}


def costs_until(horizon: datetime, deployments: Set[str]) -> dict[str, tuple[CostVersion, ...]]:
    """Read every cost of these deployments in force now or before `horizon`, newest first."""
    found: dict[str, list[CostVersion]] = defaultdict(list)
    rows = CostVersionRow.objects.filter(deployment__in=deployments, effective_at__lte=horizon)
    for row in rows.order_by("deployment", "-effective_at"):
        found[row.deployment].append(CostVersion(row.pk, row.effective_at, _costs(row)))
    return {deployment: tuple(versions) for deployment, versions in found.items()}


def _costs(row: CostVersionRow) -> PriceList:
    """Read a cost. One that cannot be read is not known: calls are served and charged without it."""
    try:
        return PriceList.parse(row.components)
    except PriceError as error:
        _unreadable.write(str(row.pk), f"the cost {row} cannot be read: {error}")
        return PriceList()


def _version(row: PriceVersionRow) -> PriceVersion:
    prices = PriceList.parse(row.components)
    return PriceVersion(
        id=row.pk,
        effective_at=row.effective_at,
        prices=prices,
        worst_case=WorstCase.of(prices),
        components=row.components,
    )
