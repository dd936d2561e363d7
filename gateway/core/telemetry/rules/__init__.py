"""How durations are counted."""
