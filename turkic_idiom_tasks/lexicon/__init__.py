"""Aligned lexicon: its entries, its files, its editions, and the reviews of native speakers."""
