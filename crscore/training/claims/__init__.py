"""Fine-tuning a language model to write claims, and making the rows it learns from."""
