"""Commands that set mdmem up: init, install, status, settings, templates and the demo."""
