"""Console pages for accounts, products, integrations, clients, devices and keys."""

from accounts.admin import accounts, clients, groups, integrations, keys, log, people, products, sign_in

__all__ = ["accounts", "clients", "groups", "integrations", "keys", "log", "people", "products", "sign_in"]
