"""What `manage.py demo` tells and does: one paid call through a running gateway, as a client from outside makes it."""
