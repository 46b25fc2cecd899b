"""Statistics of audits, studies and comparisons of code.

`bootstrap` draws clusters and derives intervals and tests from the draws; `resampled` computes a
statistic in all draws at once; `paired` compares two sides; `intervals` and `ranks` do not use
draws. scipy is imported by the functions that use it, so the modules load without it.
"""
