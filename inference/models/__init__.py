"""Models of the catalogue, representations and stored responses."""

from inference.models.alias import Alias, Deployment
from inference.models.raw_model import RawModel
from inference.models.representation import Representation
from inference.models.stored_response import StoredResponse
from inference.models.upstream import Upstream

__all__ = ["Alias", "Deployment", "RawModel", "Representation", "StoredResponse", "Upstream"]
