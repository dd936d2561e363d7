"""The chaos run: a whole gateway under load while everything below it is killed, and what became of the money.

`python -m tests.chaos` (or `make chaos`) plays it. It looks from outside: over HTTP, at the database's tables, at the fake
upstream's own ledger and at `manage.py audit_ledger`; it shares no code with what it judges.
"""
