"""What commands share: options, tables, styled lines, the pager and the editor."""
