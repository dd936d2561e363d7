"""What `manage.py demo` tells and does: paid calls through a running gateway, as a client from outside makes them."""
