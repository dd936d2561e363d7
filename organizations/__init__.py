"""Organizations: members, products, seats and live access decisions."""
