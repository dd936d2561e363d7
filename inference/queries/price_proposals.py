"""Reads of proposed prices."""

from collections.abc import Collection

from inference.models import PriceProposal, ProposalState


def waiting(names: Collection[str] = (), *, costs: bool = False) -> list[PriceProposal]:
    """Return the proposed prices, or costs, that wait for an operator, all or those of these models, by the model's name."""
    rows = PriceProposal.objects.filter(state=ProposalState.WAITING)
    rows = rows.exclude(deployment="") if costs else rows.filter(deployment="")
    return list((rows.filter(alias__in=names) if names else rows).order_by("alias", "pk"))
