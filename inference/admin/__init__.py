"""Console pages of upstreams, aliases with their deployments, raw models and prices."""

from inference.admin import aliases, deployment_names, prices, raw_models, upstreams

__all__ = ["aliases", "deployment_names", "prices", "raw_models", "upstreams"]
