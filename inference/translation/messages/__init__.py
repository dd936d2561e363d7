"""The Messages API, to and from the intermediate representation."""
