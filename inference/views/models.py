"""GET /v1/models: the callable models. SPEC: not an upstream health check."""

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller
from gateway.core.api.access import authenticated_only
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.capabilities import infer
from gateway.core.contract.errors import ModelNotFound
from inference.interface.model import ServedModel
from inference.metering.served import routes, routes_of
from inference.queries import catalogue
from inference.serializers.models import render_model
from inference.serializers.reference import describe_model, describe_models


class ModelViewSet(ApiViewSet):
    """The enabled models, whether or not the token may use them."""

    @describe_models
    @authenticated_only
    def list(self, request: Request) -> Response:
        """List every enabled alias, and the raw models that the caller's integration may use."""
        models = catalogue.current_sync().listed(caller(request).client_id)
        return Response({"object": "list", "data": [_rendered(model, request) for model in models]})

    @describe_model
    @authenticated_only
    def retrieve(self, request: Request, model: str) -> Response:
        """Show one of them."""
        found = catalogue.current_sync().shown(model, caller(request).client_id)
        if found is None:
            raise ModelNotFound(param="model")
        return Response(_rendered(found, request))


def _may_call(model: ServedModel, request: Request) -> bool:
    """Return whether the token has the scopes for one of the model's routes."""
    served, allows = routes(), caller(request).allows
    needed = [served[name][0].scopes(model.name) for name in routes_of(model)] or [(infer(model.name),)]
    return any(all(allows(scope) for scope in scopes) for scopes in needed)


def _rendered(model: ServedModel, request: Request) -> dict[str, object]:
    price = model.price_at(timezone.now())
    authorized = _may_call(model, request)
    return render_model(model, routes_of(model), price.components if price else {}, authorized=authorized)
