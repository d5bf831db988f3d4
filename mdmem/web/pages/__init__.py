"""The pages: functions from a request to a response. `ROUTES` of `mdmem.web.app` lists them."""
