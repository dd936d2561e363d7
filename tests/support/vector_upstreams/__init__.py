"""Fake upstreams of vectors over real sockets: our own protocol, and the vendor Voyage's.

Vectors follow from the texts alone, so that a test can compute what it expects. `asked` has every call that arrived, and
`twist` may answer otherwise.
"""

from tests.support.vector_upstreams.ours import RepresentationUpstream
from tests.support.vector_upstreams.voyage import VoyageUpstream

__all__ = ["RepresentationUpstream", "VoyageUpstream"]
