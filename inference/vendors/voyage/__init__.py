"""The vendor Voyage."""
