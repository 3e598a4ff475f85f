"""Idioms in sentences that people wrote: finding candidates, and annotations that stand off from the corpora."""
