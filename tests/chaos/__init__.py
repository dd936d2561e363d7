"""The chaos run: a whole gateway under load while everything below it is killed, and a check of all money afterwards.

`python -m tests.chaos` (or `make chaos`) runs it. It observes from outside: over HTTP, the database's tables, the fake
upstream's own ledger and `manage.py audit_ledger`; it shares no code with what it checks.
"""
