"""The steps of `manage.py demo`: paid calls through a running gateway, made as an external client would."""
