"""The one way out of a sandbox: a proxy that lets through what is listed."""
