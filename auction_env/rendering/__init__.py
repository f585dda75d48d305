"""Tables as text and as pictures."""
