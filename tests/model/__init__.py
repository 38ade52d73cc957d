"""The model against brute force, and each constraint against its smallest cases."""
