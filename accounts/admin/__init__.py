"""Console pages for accounts, products, integrations, clients, devices, notes and keys."""

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
    notes,
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
    "notes",
    "people",
    "products",
    "sign_in",
]
