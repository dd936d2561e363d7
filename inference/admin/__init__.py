"""Console pages of upstreams, aliases with their deployments, raw models, rate limits, prices and proposed prices, and folders of journals."""

from inference.admin import (
    aliases,
    deployment_names,
    home,
    journal_folders,
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
    "journal_folders",
    "limits",
    "needs",
    "price_proposals",
    "prices",
    "raw_models",
    "upstreams",
]
