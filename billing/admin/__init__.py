"""Console pages of the ledger. They never write a balance: actions call operations and write a log entry."""

from billing.admin import (
    auto_top_ups,
    budgets,
    calls,
    credits,
    differences,
    home,
    invoices,
    lost_receipts,
    margins,
    needs,
    payments,
    usage,
    wallets,
)

__all__ = [
    "auto_top_ups",
    "budgets",
    "calls",
    "credits",
    "differences",
    "home",
    "invoices",
    "lost_receipts",
    "margins",
    "needs",
    "payments",
    "usage",
    "wallets",
]
