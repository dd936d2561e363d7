"""What executes programs for the integrations."""
