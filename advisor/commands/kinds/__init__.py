"""`wm-place definitions …`: the definitions of kinds themselves, for people who write or choose them."""
