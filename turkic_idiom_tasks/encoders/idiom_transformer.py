"""Place where models with idiom tokens that earlier versions have saved look for their class."""

from turkic_idiom_tasks.encoders.siblings.idiom_transformer import IdiomTokenTransformer

__all__ = ["IdiomTokenTransformer"]
