"""Commands that set mdmem up: init, install, settings, templates, completion, and the demo."""
