"""What people and tools see: rows, conversations, figures and wording. Shared by CLI, server and pages."""
