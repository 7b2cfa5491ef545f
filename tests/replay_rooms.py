"""Real sandboxes on a database of their own, and replays in them."""

from contextlib import asynccontextmanager
from types import SimpleNamespace

from skillyard.app.sandboxes import sandbox_rooms
from skillyard.blobs.store import open_blobs
from skillyard.config.settings import Settings
from skillyard.db.database import Database
from skillyard.history.service import History
from skillyard.identity.access import Access
from skillyard.identity.people import People
from skillyard.releases.replay.browser import Patience
from skillyard.releases.replay.replayer import Replayer

QUICK = Patience(settled=0.4, quiet=1.0, checks=1.5)


@asynccontextmanager
async def replay_rooms(home):
    """One person's sandboxes, and a replayer that is not patient."""
    settings = Settings(home=home)
    database = await Database.open(settings.database)
    people = People(database, History(database))
    person = await people.ensure_person(await people.ensure_tenant("tenant"), "ada")
    caller = await Access(database, people, admin_token=None).of_person(person)
    rooms = sandbox_rooms(database, open_blobs(settings.blobs), settings)
    replayer = Replayer(rooms.sandboxes, rooms.runs, rooms.browsing, rooms.workspace, patience=QUICK)
    try:
        yield SimpleNamespace(rooms=rooms, caller=caller, replayer=replayer, home=home)
    finally:
        await rooms.close()
        await database.close()
