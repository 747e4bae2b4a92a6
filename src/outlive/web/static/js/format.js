// Numbers and times as people read them.
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
const STEPS = [
  [60, "second"],
  [60, "minute"],
  [24, "hour"],
  [7, "day"],
  [4.35, "week"],
  [12, "month"],
  [Infinity, "year"],
];

// Seconds since 1970 as "5 min. ago".
export function ago(seconds, now = Date.now() / 1000) {
  if (!seconds) return "–";
  let distance = seconds - now;
  if (Math.abs(distance) < 5) return "just now";
  for (const [length, unit] of STEPS) {
    if (Math.abs(distance) < length) return relative.format(Math.round(distance), unit);
    distance /= length;
  }
  return "";
}

export const moment = (seconds) =>
  seconds ? new Date(seconds * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" }) : "–";

// 12345 as "12.3k".
export function short(number) {
  if (number < 1000) return String(Math.round(number));
  if (number < 1_000_000) return `${trim(number / 1000)}k`;
  return `${trim(number / 1_000_000)}M`;
}

const trim = (number) => (number < 100 ? number.toFixed(1).replace(/\.0$/, "") : String(Math.round(number)));

export const dollars = (amount) => (amount ? `$${amount < 0.1 ? amount.toFixed(3) : amount.toFixed(2)}` : "–");

// One decimal near the ends, where it tells almost from all.
export const percent = (share) => `${(share * 100).toFixed((share > 0.995 && share < 1) || (share > 0 && share < 0.1) ? 1 : 0)}%`;

export const plural = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
