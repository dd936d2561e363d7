"""The portal's own pages; sign-in itself is django-allauth's."""
