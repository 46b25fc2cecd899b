"""A GitLab that answers on this machine, from the worlds of the simulated GitHub.

Shapes as https://docs.gitlab.com/api/merge_requests/, /discussions/, /notes/, /repository_files/
and /rest/#pagination have them.
"""
