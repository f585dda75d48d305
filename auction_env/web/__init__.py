"""The table in a browser: a server that holds the state, and a page that shows each seat what it may see."""
