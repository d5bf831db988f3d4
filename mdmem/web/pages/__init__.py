"""Pages: each a function that takes a request and answers it. `ROUTES` of `mdmem.web.app` lists them."""
