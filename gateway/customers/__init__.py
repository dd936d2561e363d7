"""The console's page of a customer, an account or an organization: everything about it at a glance, and what support does there."""
