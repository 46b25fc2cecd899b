"""The rooms behind `crscore.claims.structural.plugin`: from two trees to sentences."""
