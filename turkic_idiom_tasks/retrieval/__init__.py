"""From texts to rankings: an encoder on the three retrieval tasks."""
