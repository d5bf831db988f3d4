"""Text to terms: tokens, stems and stop words."""
