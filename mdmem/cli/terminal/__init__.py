"""What commands share: options, tables, styled lines, results, pager and editor."""
