"""Which scopes a browser can be granted now: the fixed ones, and `infer:` of every alias that is enabled."""

from accounts.operations import model_names
from accounts.rules import public_scopes


def grantable() -> frozenset[str]:
    """List every scope that a public client can be granted now."""
    return public_scopes.grantable(model_names.registered().enabled())
