"""Tables of a game, one or many, and what is asked of those who play at them."""
