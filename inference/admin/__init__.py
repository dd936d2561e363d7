"""Console pages of upstreams, aliases with their deployments, raw models, rate limits, prices and proposed prices."""

from inference.admin import (
    aliases,
    deployment_names,
    home,
    limits,
    needs,
    price_proposals,
    prices,
    raw_models,
    upstreams,
)

__all__ = [
    "aliases",
    "deployment_names",
    "home",
    "limits",
    "needs",
    "price_proposals",
    "prices",
    "raw_models",
    "upstreams",
]
