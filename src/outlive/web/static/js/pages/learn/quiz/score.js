// The score, kept in this browser.
import { readJson } from "../progress.js";

const EMPTY = { right: 0, asked: 0, best: 0, rounds: 0 };

export const readScore = () => readJson("learn-score", EMPTY);

export function addRound(right, asked) {
  const old = readScore();
  const score = { right: old.right + right, asked: old.asked + asked, best: Math.max(old.best, right), rounds: old.rounds + 1 };
  localStorage.setItem("learn-score", JSON.stringify(score));
  return score;
}

export const clearScore = () => localStorage.removeItem("learn-score");
