"""Boots a machine with the systemd units, installed as the guide says: `python -m tests.deploy.boot`.

The machine is a Debian in namespaces of its own, whose process 1 is systemd. It has no network but the loopback interface, which
it shares with this tool, its clients and the fake upstream.
"""
