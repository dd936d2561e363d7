"""Views of the portal. django-allauth provides the sign-in itself."""
