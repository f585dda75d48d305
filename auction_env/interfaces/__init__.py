"""The engine in the forms that other libraries expect."""
