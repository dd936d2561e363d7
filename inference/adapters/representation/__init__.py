"""Shared code of representation endpoints: answers made of several calls, vectors, and the gateway's own protocol."""
