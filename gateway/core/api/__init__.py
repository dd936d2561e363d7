"""The API of the apps: access declarations, viewsets, serializers and the OpenAPI document."""
