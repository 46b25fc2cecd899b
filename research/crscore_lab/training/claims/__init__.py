"""Fine-tuning of a language model that writes claims, and creation of its training rows."""
