"""equipoise: fair sequential allocation."""

__version__ = "0.1.0"
