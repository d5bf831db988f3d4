"""What people and tools are shown: rows, conversations, figures and wording. Shared by CLI, server and pages."""
