-- Address of a pull request's page on the host, with {name} and {number}; null for GitHub's.
ALTER TABLE repositories ADD COLUMN page TEXT;
