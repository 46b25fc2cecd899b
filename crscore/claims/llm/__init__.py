"""Claims by language models: from a diff to chats, and from the answers to claims."""
