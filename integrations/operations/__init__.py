"""What changes in the integrations: each operation checks, locks and writes."""
