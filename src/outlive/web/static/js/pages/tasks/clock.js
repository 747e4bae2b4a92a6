// Lease clocks. They count by the clock of the store, which is the only one that leases are measured with.
import { html, useEffect, useMemo, useState } from "../../html.js";
import { moment } from "../../format.js";

// Seconds by which the store's clock is ahead of this browser's.
export const useSkew = (now) => useMemo(() => (now ? now - Date.now() / 1000 : 0), [now]);

export function LeaseClock({ expires, skew }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((number) => number + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  const left = Math.ceil(expires - skew - Date.now() / 1000);
  const tone = left <= 0 ? "out" : left < 60 ? "soon" : "";
  const about = `The lease ${left > 0 ? "ends" : "ended"} ${moment(expires - skew)}. Without a heartbeat the task then goes back.`;
  return html`<span class="lease-clock ${tone}" role="timer" title=${about}>${left > 0 ? clock(left) : "lease ran out"}</span>`;
}

// 75 as "1:15", 4000 as "1 h 6 min".
export function clock(seconds) {
  if (seconds >= 86_400) return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`;
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
