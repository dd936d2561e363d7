"""Observes the model requests of this process, and keeps what operators look at: hourly sums, and recent requests with their steps."""
