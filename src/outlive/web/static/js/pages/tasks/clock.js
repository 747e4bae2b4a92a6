// Lease clocks. They count by the clock of the store, which is the only one that leases are measured with.
import { html, useEffect, useMemo, useState } from "../../html.js";
import { moment } from "../../format.js";
import { useStatus } from "../../stream/connection.js";

// Seconds by which the store's clock is ahead of this browser's.
export const useSkew = (now) => useMemo(() => (now ? now - Date.now() / 1000 : 0), [now]);

// The time in seconds, every second. It stops while the server does not answer: what a lease did meanwhile is unknown.
export function useNow() {
  const online = useStatus() === "online";
  const [now, setNow] = useState(Date.now() / 1000);
  useEffect(() => {
    if (!online) return undefined;
    const tick = () => setNow(Date.now() / 1000);
    tick();
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }, [online]);
  return now;
}

export function LeaseClock({ expires, skew }) {
  const left = Math.ceil(expires - skew - useNow());
  const tone = left <= 0 ? "out" : left < 60 ? "soon" : "";
  const about = `The lease ${left > 0 ? "ends" : "ended"} ${moment(expires - skew)}. Without a heartbeat the task then goes back.`;
  return html`<span class="lease-clock ${tone}" role="timer" title=${about}>${left > 0 ? `lease ${clock(left)}` : "lease ran out"}</span>`;
}

// 75 as "1:15", 4000 as "1 h 6 min".
export function clock(seconds) {
  if (seconds >= 86_400) return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`;
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
