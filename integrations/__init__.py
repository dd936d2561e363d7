"""First-party integrations: projects, sandbox and CI runs, evolution, account keys."""
