"""The Account Gateway's project package: settings, entry points and infrastructure that depends on no app."""
