"""Runs deploy/compose.yaml and the command lines of deploy/kubernetes with Docker: `python -m tests.deploy.compose`.

Docker runs on a machine of its own (tests/deploy/boot/machine.py), which has no network but its own. Where the compose file names
an image of a registry, one that is built from Debian's packages stands for it (images/).
"""
