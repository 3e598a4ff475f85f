"""Rankings of the three retrieval tasks by an encoder."""
