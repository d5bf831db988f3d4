"""What commands share: options, tables, styled lines, pager and editor."""
