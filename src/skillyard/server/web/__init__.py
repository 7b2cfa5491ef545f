"""The yard in a browser: pages made on the server, over the same services and rights as the API."""
