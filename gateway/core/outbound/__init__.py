"""The one way to other hosts: sessions, timeouts, redaction, the public-address guard."""
