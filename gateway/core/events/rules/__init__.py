"""Pure decisions about events."""
