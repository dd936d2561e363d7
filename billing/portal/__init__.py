"""The portal's pages about a person's money."""
