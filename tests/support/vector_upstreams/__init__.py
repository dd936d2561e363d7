"""Fake upstreams for vectors on real sockets: the gateway's own protocol, and those of Voyage and Cohere.

Vectors depend only on the texts, so that a test can compute the expected ones. `asked` has every received call, and
`twist` may replace the response.
"""

from tests.support.vector_upstreams.cohere import CohereUpstream
from tests.support.vector_upstreams.ours import RepresentationUpstream
from tests.support.vector_upstreams.voyage import VoyageUpstream

__all__ = ["CohereUpstream", "RepresentationUpstream", "VoyageUpstream"]
