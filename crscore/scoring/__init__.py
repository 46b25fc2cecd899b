"""From judged cells to scores: formulas, scopes, references and signature."""
