"""Console pages for accounts, products, integrations, clients, devices and keys."""

from accounts.admin import (
    accounts,
    clients,
    event_endpoints,
    groups,
    integrations,
    keys,
    log,
    mails,
    needs,
    people,
    products,
    sign_in,
)

__all__ = [
    "accounts",
    "clients",
    "event_endpoints",
    "groups",
    "integrations",
    "keys",
    "log",
    "mails",
    "needs",
    "people",
    "products",
    "sign_in",
]
