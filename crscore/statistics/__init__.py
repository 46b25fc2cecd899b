"""Statistics of audits, studies and comparisons of code.

`bootstrap` draws clusters and judges what the draws say; `resampled` computes a statistic in all
draws at once; `intervals`, `ranks`, `agreement`, `corrections` and `logistic` need no draws. scipy
is imported by the functions that use it: the modules load without it.
"""
