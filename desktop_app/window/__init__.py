"""The window: widgets over the records that the library worker sends. It knows no model."""
