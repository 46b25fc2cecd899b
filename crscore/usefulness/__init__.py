"""How useful a review is to the author: about the change, and worth reading."""
