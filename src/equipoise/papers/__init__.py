"""The experiments of the papers, one module each: the same instances, the same policies, and honest errors."""
