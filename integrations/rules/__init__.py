"""Rules of the integrations that need neither database nor network."""
