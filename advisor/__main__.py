"""`python -m advisor`, the same as `wm-place`."""

from advisor.cli import main

if __name__ == "__main__":
    main()
