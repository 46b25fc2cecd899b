"""The rooms behind `crscore.claims.structural`: from two trees to sentences."""
