"""Client for the API of GitLab: reads merge requests and writes one note."""
