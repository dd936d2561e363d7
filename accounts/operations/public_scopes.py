"""Lists the scopes that a browser can be granted: the fixed ones, and `infer:` for every enabled alias."""

from accounts.operations import model_names
from accounts.rules import public_scopes


def grantable() -> frozenset[str]:
    """Return all scopes that a public client can be granted now."""
    return public_scopes.grantable(model_names.registered().enabled())
