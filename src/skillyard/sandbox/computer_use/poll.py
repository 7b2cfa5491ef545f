"""Asks the relay on a computer-use server for what the guest said from an offset on: small, for it is started often.

Sent there and run by its path with the folder of the relay, the offset, and how many seconds it may take.
"""

import os
import socket
import sys


def poll(folder: str, offset: str, seconds: str) -> str:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(float(seconds) + 10)
        os.chdir(folder)
        client.connect("socket")  # the whole path may be longer than such names can be
        client.sendall(f"{offset} {seconds}".encode())
        return b"".join(iter(lambda: client.recv(65536), b"")).decode()


if __name__ == "__main__":
    sys.stdout.write(f"SKILLYARD:{poll(*sys.argv[1:4])}:END\n")
