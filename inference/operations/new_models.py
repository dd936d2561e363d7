"""Makes a model with all that it needs to be called, in one transaction. It stays closed until an operator has tried it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from billing.operations import costs, prices
from inference.models import Alias, Deployment, RawModel, Upstream
from inference.queries.rows import deployment_id


class TakenError(Exception):
    """The name belongs to another model."""


@dataclass(frozen=True, slots=True)
class NewModel:
    """An alias at one upstream. `price` and `cost` are in the operator's notation; an empty cost is not known."""

    name: str
    upstream: Upstream
    upstream_model: str
    price: Mapping[str, Any]
    cost: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    max_output_tokens: int | None = None
    context_tokens: int | None = None


def create(new: NewModel, *, now: datetime) -> Deployment:
    """Make the alias, closed, with its deployment, price and cost, and return the deployment. Raises TakenError, or PriceError."""
    if RawModel.objects.filter(model=new.name).exists():
        raise TakenError("This is the name of a raw model.")
    try:
        return _create(new, now)
    except IntegrityError:
        raise TakenError("This is the name of an alias.") from None


@transaction.atomic
def _create(new: NewModel, now: datetime) -> Deployment:
    alias = Alias.objects.create(
        name=new.name,
        enabled=False,
        max_output_tokens=new.max_output_tokens,
        context_tokens=new.context_tokens,
        options=dict(new.options),
    )
    deployment = Deployment.objects.create(alias=alias, upstream=new.upstream, model=new.upstream_model)
    prices.publish(alias.name, new.price, now=now)
    costs.publish(deployment_id(deployment), new.cost, now=now)
    return deployment


@transaction.atomic
def open_alias(alias_id: int) -> bool:
    """Open an alias for calls, and return whether it was closed."""
    return bool(Alias.objects.filter(pk=alias_id, enabled=False).update(enabled=True))
