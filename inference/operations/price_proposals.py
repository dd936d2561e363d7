"""Proposed prices and costs: stored, and published only when an operator accepts them."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from billing.operations import costs, prices
from billing.queries import costs as cost_queries
from billing.queries import prices as price_queries
from billing.rules.prices import PriceError, PriceList
from inference.metering.obstacles import unsold_routes
from inference.models import PriceProposal, ProposalState
from inference.operations.price_comparisons import Comparison, Version
from inference.queries import aliases
from inference.queries.sold_models import sold_models

CONTENT = (
    *("version_id", "components_now", "components", "source", "markup_percent", "deployments", "rounded", "notes"),
    "is_beyond_bounds",
)
"""The columns of a proposal that say what a catalogue proposes."""


class RefusedError(Exception):
    """A proposal cannot be accepted. The message is a sentence for the operator."""


def store(comparison: Comparison, *, now: datetime) -> None:
    """Store the proposals. Each replaces one of its model that waits and says something else, and so does the news that the price
    is right."""
    for sold in comparison.unchanged:
        _replace(PriceProposal(alias=sold.name, deployment=sold.deployment), now, is_news=False)
    for proposal in comparison.proposals:
        _replace(proposal, now, is_news=True)


@transaction.atomic
def _replace(proposal: PriceProposal, now: datetime, *, is_news: bool) -> None:
    _take_turn(proposal)
    of_same = PriceProposal.objects.filter(alias=proposal.alias, deployment=proposal.deployment)
    waiting = of_same.filter(state=ProposalState.WAITING).first()
    if waiting is not None and is_news and _content(waiting) == _content(proposal):
        return
    if waiting is not None:
        _decide(waiting, ProposalState.REPLACED, "", now)
    if is_news:
        proposal.save(force_insert=True)


def _content(proposal: PriceProposal) -> list[Any]:
    return [getattr(proposal, name) for name in CONTENT]


@transaction.atomic
def accept(proposal_id: int, *, actor: str, beyond_bounds: bool = False, now: datetime | None = None) -> Version:
    """Publish a proposed price or cost from now on. Without `now`, the clock is read once it is this model's turn.

    Raises RefusedError if it no longer waits, if another one is in force than the one that it was compared with, if it is beyond the bounds and nobody said that this is right, or if it would take a route offline.
    """
    proposal, now = _locked(proposal_id), now or timezone.now()
    _check(proposal, beyond_bounds)
    try:
        version = _publish(proposal, now)
    except PriceError as error:
        raise RefusedError(f"The {proposal.title} is not valid: {error}.") from None
    if version is None:
        raise RefusedError(f"This is already the {proposal.title}.")
    _decide(proposal, ProposalState.ACCEPTED, actor, now, version.pk)
    return version


@transaction.atomic
def dismiss(proposal_id: int, *, actor: str, now: datetime | None = None) -> None:
    """Dismiss a proposal. Raises RefusedError if it no longer waits."""
    _decide(_locked(proposal_id), ProposalState.DISMISSED, actor, now or timezone.now())


def _locked(proposal_id: int) -> PriceProposal:
    """Return a waiting proposal that nobody else decides meanwhile."""
    _take_turn(PriceProposal.objects.get(pk=proposal_id))
    proposal = PriceProposal.objects.select_for_update(no_key=True).get(pk=proposal_id)
    if proposal.state != ProposalState.WAITING:
        raise RefusedError(f"The proposed {proposal.title} was {proposal.state} in the meantime.")
    return proposal


def _take_turn(proposal: PriceProposal) -> None:
    """Wait for others who publish the same price or cost."""
    if proposal.deployment:
        costs.take_cost_turn(proposal.deployment)
    else:
        prices.take_price_turn(proposal.alias)


def _newest(proposal: PriceProposal) -> Version | None:
    if proposal.deployment:
        return cost_queries.newest(proposal.deployment)
    return price_queries.newest(proposal.alias)


def _publish(proposal: PriceProposal, now: datetime) -> Version | None:
    if proposal.deployment:
        return costs.publish(proposal.deployment, proposal.components, now=now)
    return prices.publish(proposal.alias, proposal.components, now=now)


def _check(proposal: PriceProposal, beyond_bounds: bool) -> None:
    version = _newest(proposal)
    if not _is_sold(proposal):
        raise RefusedError(f"{proposal.what} is no longer for sale.")
    if (version.pk if version else None) != proposal.version_id:
        raise RefusedError(f"The {proposal.title} has changed since this was proposed. Compare the catalogue again.")
    if proposal.is_beyond_bounds and not beyond_bounds:
        raise RefusedError(f"The {proposal.title} changes by more than the bounds allow, which must be confirmed.")
    if not proposal.deployment:
        _check_routes(proposal, PriceList.parse(version.components if version else {}))


def _is_sold(proposal: PriceProposal) -> bool:
    if proposal.deployment:
        return any(way.id == proposal.deployment for sold in sold_models() for way in sold.ways)
    return aliases.named(proposal.alias) is not None


def _check_routes(proposal: PriceProposal, before: PriceList) -> None:
    """Refuse a price that takes a route offline."""
    model = aliases.named(proposal.alias)
    unsold = unsold_routes(model, PriceList.parse(proposal.components)) if model else []
    if lost := [str(each) for each in unsold if before.serves(each.name)]:
        raise RefusedError(f"{'; '.join(lost)}.")


def _decide(
    proposal: PriceProposal, state: ProposalState, actor: str, now: datetime, version: int | None = None
) -> None:
    proposal.state, proposal.decided_at, proposal.decided_by = state, now, actor
    proposal.published_version_id = version
    proposal.save(update_fields=["state", "decided_at", "decided_by", "published_version_id"])
