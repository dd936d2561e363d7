"""The Account Gateway's house: settings, entry points and the plumbing that knows no app."""
