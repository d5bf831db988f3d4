"""Text to terms: tokens, stems, stop words."""
