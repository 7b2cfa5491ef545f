"""The floor of serving: FastAPI routes that do nothing but return bytes, on the server that Skillyard runs on.

`python bench/bare.py FOLDER` serves the folder's files `skill.json` and `list.json`, and a 304.
"""

import sys
from pathlib import Path

from fastapi import FastAPI, Response

from skillyard.server.run import address_of, bind, run


def bare_app(folder: Path) -> FastAPI:
    app = FastAPI(docs_url=None, redoc_url=None)
    skill = (folder / "skill.json").read_bytes()
    listing = (folder / "list.json").read_bytes()

    @app.get("/api/v1/skills")
    async def list_skills() -> Response:
        return Response(listing, media_type="application/json")

    @app.get("/api/v1/skills/{skill_id}")
    async def get_skill(skill_id: str) -> Response:
        if skill_id == "same":
            return Response(status_code=304, headers={"ETag": '"same"'})
        return Response(skill, media_type="application/json")

    return app


if __name__ == "__main__":
    with bind("127.0.0.1", 0) as listener:
        print(f"Serving at {address_of(listener)}", file=sys.stderr, flush=True)
        run(bare_app(Path(sys.argv[1])), listener)
