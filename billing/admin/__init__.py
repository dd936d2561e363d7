"""The console's pages of the ledger. Nothing here writes a balance: actions call operations and leave a log entry."""

from billing.admin import calls, credits, differences, invoices, payments, usage, wallets

__all__ = ["calls", "credits", "differences", "invoices", "payments", "usage", "wallets"]
