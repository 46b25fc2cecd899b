"""CodeBERTScore: similarity of the tokens of two pieces of code in their contexts."""
