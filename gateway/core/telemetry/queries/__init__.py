"""What is read of telemetry."""
