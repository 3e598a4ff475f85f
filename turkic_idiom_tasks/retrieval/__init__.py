"""The three retrieval tasks."""
