"""Compares prices, or what deployments cost, with a published catalogue."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from billing.models import CostVersion, PriceVersion
from billing.queries import costs, prices
from billing.rules.prices import PriceError, PriceList
from inference.models import PriceProposal
from inference.rules.price_catalogues.entries import shown
from inference.rules.price_catalogues.forms import Catalogue
from inference.rules.price_changes import changes, is_beyond_bounds, propose
from inference.rules.price_matching import Sold, Statements, UnmatchedError, match

Version = PriceVersion | CostVersion


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a catalogue says of the models for sale: the proposals, not yet stored; those whose price it confirms; and the others,
    each with the reason why it proposes nothing."""

    proposals: tuple[PriceProposal, ...]
    unchanged: tuple[Sold, ...]
    unmatched: tuple[tuple[Sold, str], ...]


def compare_prices(
    sold: Iterable[Sold],
    catalogue: Catalogue,
    statements: Statements,
    *,
    source: str,
    markup_percent: str,
    now: datetime,
) -> Comparison:
    """Compare the prices in force with a catalogue's, to which a markup is added. Changes nothing."""
    versions: Mapping[str, Version] = prices.current(now)
    compared = [(model, versions.get(model.name)) for model in sold]
    return _compare(compared, catalogue, statements, source, markup_percent, now)


def compare_costs(
    sold: Iterable[Sold], catalogue: Catalogue, statements: Statements, *, source: str, now: datetime
) -> Comparison:
    """Compare the costs in force of all deployments with a catalogue's prices. Changes nothing."""
    deployments = [deployment for model in sold for deployment in model.apart()]
    versions: Mapping[str, Version] = costs.current([each.deployment for each in deployments], now)
    compared = [(each, versions.get(each.deployment)) for each in deployments]
    return _compare(compared, catalogue, statements, source, "0", now)


def _compare(
    compared: Iterable[tuple[Sold, Version | None]],
    catalogue: Catalogue,
    statements: Statements,
    source: str,
    markup_percent: str,
    now: datetime,
) -> Comparison:
    proposals: list[PriceProposal] = []
    unchanged: list[Sold] = []
    unmatched: list[tuple[Sold, str]] = []
    for model, version in compared:
        try:
            proposal = _proposal(model, version, catalogue, statements, markup_percent)
        except UnmatchedError as error:
            unmatched.append((model, str(error)))
            continue
        if changes(proposal.components_now, proposal.components):
            proposal.source, proposal.created_at = source, now
            proposals.append(proposal)
        else:
            unchanged.append(model)
    return Comparison(tuple(proposals), tuple(unchanged), tuple(unmatched))


def _proposal(
    sold: Sold, version: Version | None, catalogue: Catalogue, statements: Statements, markup_percent: str
) -> PriceProposal:
    """Build the proposal for a model, also if it would change nothing. Raises UnmatchedError."""
    matched = match(sold, catalogue, statements)
    now: Mapping[str, Any] = version.components if version else {}
    found = propose([entry for _, entry in matched], now, Fraction(markup_percent))
    try:
        PriceList.parse(found.components)
    except PriceError as error:
        raise UnmatchedError(f"the price that follows is not valid: {error}") from None
    return PriceProposal(
        alias=sold.name,
        deployment=sold.deployment,
        version_id=version.pk if version else None,
        components_now=now,
        components=found.components,
        markup_percent=markup_percent,
        deployments=[[deployment, shown(entry.name)] for deployment, entry in matched],
        rounded=list(found.rounded),
        notes=list(found.notes),
        is_beyond_bounds=is_beyond_bounds(now, found.components),
    )
