"""Money: wallets, credit lots, the ledger, holds, budgets, prices and usage."""
