"""What upstreams of representations have in common: several calls that make one answer, vectors, and our own protocol."""
