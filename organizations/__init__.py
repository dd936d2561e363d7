"""Teams: organizations, their members, products, seats and live access."""
