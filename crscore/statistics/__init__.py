"""Statistics for audits and studies: bootstrap, intervals, rank correlations, corrections."""
