"""Fine-tuning of encoders for retrieval and similarity, and of classifiers for idiom spans and idiomaticity."""
