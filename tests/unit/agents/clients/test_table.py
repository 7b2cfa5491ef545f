"""The table of MCP clients, and the page that tells it."""

from pathlib import Path

import pytest

from skillyard.agents.clients.table import CLIENTS

PAGE = Path(__file__).parents[4] / "docs/mcp-clients.md"


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.id)
def test_every_client_is_in_the_page_with_its_files(client):
    (row,) = [line for line in PAGE.read_text().splitlines() if line.startswith(f"| `{client.id}`")]
    for place in (*client.project, *client.user):
        assert place.rpartition("/")[2] in row
    assert f"`{'.'.join(client.keys)}`" in row


def test_no_name_means_two_clients():
    names = [name for client in CLIENTS for name in (client.id, *client.aliases)]
    assert len(names) == len(set(names))
