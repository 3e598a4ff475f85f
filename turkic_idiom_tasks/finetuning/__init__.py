"""Fine-tuning encoders for the tasks."""
