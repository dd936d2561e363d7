"""The one place that leaves the house: sessions, timeouts, redaction, the public-address guard."""
