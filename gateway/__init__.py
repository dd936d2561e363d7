"""The Account Gateway's project package: settings, entry points and the plumbing that knows no app."""
