"""Recorded sessions of outlive and other agents: `importers/` reads them, `player.py` replays them."""
