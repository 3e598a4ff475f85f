"""Fine-tuning of encoders for retrieval and of token classifiers for span detection."""
