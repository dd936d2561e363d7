"""Rules of organizations that need no database."""
