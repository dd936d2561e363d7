"""Many nodes on one database, killed under load: `python -m tests.nodes`.

Each node is a server, a worker and a scheduler with a data directory of its own, as `python -m gateway.run` starts them on a
machine. There is no message broker that they share.
"""
