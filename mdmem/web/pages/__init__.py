"""The pages: functions from a request to a response. `PAGES` of `mdmem.web.app` lists them."""
