"""The database backend of Django's own connections (`DATABASES["default"]["ENGINE"]`)."""
