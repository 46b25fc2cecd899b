"""What a program does with a review: decide about each remark, and what to post."""
