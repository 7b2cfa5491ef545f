"""A backend whose sessions have a browser of a test's own."""

from skillyard.sandbox.capabilities import Ability, Capabilities


class BrowserSession:
    """A session that ends when it is told to; what its browser does is up to each test."""

    def __init__(self):
        self.alive = True

    async def close(self):
        self.alive = False


class Browsers:
    """Starts one and the same session, whatever is asked for."""

    name = "browsers"

    def __init__(self, page):
        self.page = page

    async def capabilities(self):
        return Capabilities(backend=self.name, available=True, abilities=frozenset(Ability))

    async def home(self):
        return "home-of-browsers"

    async def start(self, place):
        return self.page

    async def close(self):
        await self.page.close()
