# SPDX-License-Identifier: MIT
"""`python -m polarquant`: the command `polar`."""

import sys

from polarquant.command import main

if __name__ == "__main__":
    sys.exit(main())
