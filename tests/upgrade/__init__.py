"""Rolling restarts and upgrades under load: nodes behind a shipped proxy are replaced one by one, and nobody tells the proxy.

`python -m tests.upgrade --restarts 20` replaces nodes of this version; `--from v0.1.0` upgrades from that version, and goes back. Both
observe from outside: over HTTP and WebSockets, the ledger's tables and `manage.py audit_ledger`.
"""
