"""What telemetry writes and deletes."""
