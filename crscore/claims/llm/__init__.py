"""Claims from language models: chats made from a diff, and claims parsed from the answers."""
