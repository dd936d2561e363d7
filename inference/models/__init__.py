"""Models of the catalogue, proposed prices, representations, stored responses, trials, unpriced counters, folders of journals and deployments that fail."""

from inference.models.alias import Alias, Deployment
from inference.models.journal_folder import JournalFolder
from inference.models.price_proposal import PriceProposal, ProposalState
from inference.models.raw_model import RawModel
from inference.models.representation import Representation
from inference.models.stored_response import StoredResponse
from inference.models.trial import Trial
from inference.models.trouble import DeploymentTrouble
from inference.models.unpriced_counter import UnpricedCounter
from inference.models.upstream import Upstream

__all__ = [
    "Alias",
    "Deployment",
    "DeploymentTrouble",
    "JournalFolder",
    "PriceProposal",
    "ProposalState",
    "RawModel",
    "Representation",
    "StoredResponse",
    "Trial",
    "UnpricedCounter",
    "Upstream",
]
