"""Prices from published catalogues: proposed, and published only when an operator accepts them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from django.db import transaction
from django.utils import timezone

from billing.models import PriceVersion
from billing.operations import prices
from billing.queries.prices import current, in_force
from billing.rules.prices import PriceError, PriceList
from inference.metering.obstacles import unsold_routes
from inference.models import PriceProposal, ProposalState
from inference.queries import aliases
from inference.rules.price_catalogues.forms import Catalogue
from inference.rules.price_changes import changes, is_beyond_bounds, propose
from inference.rules.price_matching import Sold, Statements, UnmatchedError, match

SAID = (
    *(
        "price_version_id",
        "components_now",
        "components",
        "source",
        "markup_percent",
        "deployments",
        "rounded",
        "notes",
    ),
    "is_beyond_bounds",
)
"""The columns of a proposal that say what a catalogue proposes."""


class RefusedError(Exception):
    """A proposal cannot be accepted. The message is a sentence for the operator."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a catalogue says of the models for sale: the proposals, not yet stored; those whose price it confirms; and the others,
    each with the reason why it proposes nothing."""

    proposals: tuple[PriceProposal, ...]
    unchanged: tuple[str, ...]
    unmatched: tuple[tuple[str, str], ...]


def compare(
    sold: Iterable[Sold], catalogue: Catalogue, said: Statements, *, source: str, markup_percent: str, now: datetime
) -> Comparison:
    """Compare the prices in force with a catalogue's. Changes nothing."""
    versions = current(now)
    proposals: list[PriceProposal] = []
    unchanged: list[str] = []
    unmatched: list[tuple[str, str]] = []
    for model in sold:
        try:
            proposal = _proposal(model, versions.get(model.name), catalogue, said, markup_percent)
        except UnmatchedError as error:
            unmatched.append((model.name, str(error)))
            continue
        if changes(proposal.components_now, proposal.components):
            proposal.source, proposal.created_at = source, now
            proposals.append(proposal)
        else:
            unchanged.append(model.name)
    return Comparison(tuple(proposals), tuple(unchanged), tuple(unmatched))


def _proposal(
    sold: Sold, version: PriceVersion | None, catalogue: Catalogue, said: Statements, markup_percent: str
) -> PriceProposal:
    """Build the proposal for a model, also if it would change nothing. Raises UnmatchedError."""
    matched = match(sold, catalogue, said)
    now: Mapping[str, Any] = version.components if version else {}
    found = propose([entry for _, entry in matched], now, Fraction(markup_percent))
    try:
        PriceList.parse(found.components)
    except PriceError as error:
        raise UnmatchedError(f"the price that follows is not valid: {error}") from None
    return PriceProposal(
        alias=sold.name,
        price_version_id=version.pk if version else None,
        components_now=now,
        components=found.components,
        markup_percent=markup_percent,
        deployments=[[deployment, entry.name] for deployment, entry in matched],
        rounded=list(found.rounded),
        notes=list(found.notes),
        is_beyond_bounds=is_beyond_bounds(now, found.components),
    )


def store(comparison: Comparison, *, now: datetime) -> None:
    """Store the proposals. Each replaces one of its model that waits and says something else, and so does the news that the price
    is right."""
    for name in comparison.unchanged:
        _replace(name, None, now)
    for proposal in comparison.proposals:
        _replace(proposal.alias, proposal, now)


@transaction.atomic
def _replace(name: str, proposal: PriceProposal | None, now: datetime) -> None:
    prices.take_price_turn(name)
    waiting = PriceProposal.objects.filter(alias=name, state=ProposalState.WAITING).first()
    if waiting is not None and proposal is not None and _said(waiting) == _said(proposal):
        return
    if waiting is not None:
        _decide(waiting, ProposalState.REPLACED, "", now)
    if proposal is not None:
        proposal.save(force_insert=True)


def _said(proposal: PriceProposal) -> list[Any]:
    return [getattr(proposal, name) for name in SAID]


@transaction.atomic
def accept(proposal_id: int, *, actor: str, beyond_bounds: bool = False, now: datetime | None = None) -> PriceVersion:
    """Publish a proposed price from now on. Without `now`, the clock is read once it is this model's turn.

    Raises RefusedError if it no longer waits, if another price is in force than the one that it was compared with, if it is
    beyond the bounds and nobody said that this is right, or if it would take a route offline.
    """
    proposal, now = _locked(proposal_id), now or timezone.now()
    _check(proposal, beyond_bounds, now)
    try:
        version = prices.publish(proposal.alias, proposal.components, now=now)
    except PriceError as error:
        raise RefusedError(f"The price of {proposal.alias} is not valid: {error}.") from None
    if version is None:
        raise RefusedError(f"This is already the price of {proposal.alias}.")
    _decide(proposal, ProposalState.ACCEPTED, actor, now, version.pk)
    return version


@transaction.atomic
def dismiss(proposal_id: int, *, actor: str, now: datetime | None = None) -> None:
    """Dismiss a proposal. Raises RefusedError if it no longer waits."""
    _decide(_locked(proposal_id), ProposalState.DISMISSED, actor, now or timezone.now())


def _locked(proposal_id: int) -> PriceProposal:
    """Return a waiting proposal that nobody else decides meanwhile."""
    alias = PriceProposal.objects.values_list("alias", flat=True).get(pk=proposal_id)
    prices.take_price_turn(alias)
    proposal = PriceProposal.objects.select_for_update(no_key=True).get(pk=proposal_id)
    if proposal.state != ProposalState.WAITING:
        raise RefusedError(f"This proposal for {alias} was {proposal.state} in the meantime.")
    return proposal


def _check(proposal: PriceProposal, beyond_bounds: bool, now: datetime) -> None:
    name = proposal.alias
    version, model = in_force(name, now), aliases.named(name)
    if model is None:
        raise RefusedError(f"{name} is no longer for sale.")
    if (version.pk if version else None) != proposal.price_version_id:
        raise RefusedError(
            f"The price of {name} has changed since this proposal was made. Compare the catalogue again."
        )
    if proposal.is_beyond_bounds and not beyond_bounds:
        raise RefusedError(f"The price of {name} changes by more than the bounds allow, which must be confirmed.")
    before = PriceList.parse(version.components if version else {})
    lost = [each for each in unsold_routes(model, PriceList.parse(proposal.components)) if before.serves(each.name)]
    if lost:
        raise RefusedError(f"{'; '.join(map(str, lost))}.")


def _decide(
    proposal: PriceProposal, state: ProposalState, actor: str, now: datetime, version: int | None = None
) -> None:
    proposal.state, proposal.decided_at, proposal.decided_by = state, now, actor
    proposal.published_version_id = version
    proposal.save(update_fields=["state", "decided_at", "decided_by", "published_version_id"])
