import pytest


@pytest.fixture(autouse=True)
def clean_place(tmp_path, monkeypatch):
    """An empty machine: own home, own working folder, no variable set."""
    for name in ("HOST", "PORT", "HOME", "ROOTS", "DOCUMENT_ROOT", "ACTIVE_ENVIRONMENT", "CONFIG_DIR"):
        monkeypatch.delenv(f"SKILLYARD_{name}", raising=False)
    for name in ("DOCUMENT_ROOT", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return tmp_path
