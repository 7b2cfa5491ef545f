"""Every setting as it counts, and where it comes from."""

from skillyard.app.environments import ACTIVE, active_with_origin
from skillyard.config.load import load_settings, setting_origins, shown


def settings_in_force() -> tuple[dict[str, object], dict[str, str]]:
    """The value of each setting, secrets hidden, and the flag, variable or file that says so."""
    settings = load_settings()
    origins = setting_origins()
    values = {key: shown(key, getattr(settings, key)) for key in origins}
    values[ACTIVE], origins[ACTIVE] = active_with_origin(settings)
    return values, origins
