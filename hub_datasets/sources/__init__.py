"""Readers of outside sources: one module per kind of source, all yielding `SourceRow`."""
