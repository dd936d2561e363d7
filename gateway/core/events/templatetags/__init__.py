"""Tags of the mails' templates."""
