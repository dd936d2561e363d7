"""The treatment of members in embedding requests that select a representation."""

from inference.rules.members import REFUSED_EVERYWHERE, Member, Treatment

_UPSTREAMS_OWN = ("encoding", "inputs", "output_dimension", "output_dtype", "output_encoding", "revision", "texts")

REPRESENTED_MEMBERS = {
    **REFUSED_EVERYWHERE,
    **{
        name: Member(Treatment.REFUSED, "Use input, dimensions and encoding_format, which every upstream has.")
        for name in _UPSTREAMS_OWN
    },
}
"""Vendor-specific members that would change the representation; `dimensions` and similar members work for all
vendors."""
