"""Queues jobs on one machine, and records the runs of scheduled ones for operators."""
