"""Parts of `crscore.claims.structural.plugin`: from two syntax trees to sentences."""
