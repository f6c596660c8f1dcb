"""Starts the program that this package brings."""

import os
import subprocess
import sys
import sysconfig


def main() -> None:
    program = os.path.join(sysconfig.get_path("scripts"), "lapidary.exe" if os.name == "nt" else "lapidary")
    if not os.path.exists(program):
        # Installed for one user: the scripts are elsewhere.
        program = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), os.path.basename(program))
    if os.name == "nt":
        sys.exit(subprocess.run([program, *sys.argv[1:]]).returncode)
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
