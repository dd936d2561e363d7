"""How embeddings treat the members of a body that selects a representation."""

from inference.rules.members import REFUSED_EVERYWHERE, Member, Treatment

_UPSTREAMS_OWN = ("encoding", "inputs", "output_dimension", "output_dtype", "output_encoding", "revision", "texts")

REPRESENTED_MEMBERS = {
    **REFUSED_EVERYWHERE,
    **{
        name: Member(Treatment.REFUSED, "Use input, dimensions and encoding_format, which every upstream has.")
        for name in _UPSTREAMS_OWN
    },
}
"""Members that one vendor has for what `dimensions` and the like say for all, and that would change the representation."""
