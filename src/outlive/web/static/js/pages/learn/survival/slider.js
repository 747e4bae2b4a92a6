// The size of the window. The session is played again when the slider is let go, or a moment after a key.
import { html, useEffect, useRef, useState } from "../../../html.js";

const STEP = 1000;
const WAIT = 250; // milliseconds

export function WindowSlider({ window, limits, busy, choose }) {
  const [value, setValue] = useState(window);
  const timer = useRef(0);
  useEffect(() => setValue(window), [window]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const move = (event) => {
    const wanted = Number(event.target.value);
    setValue(wanted);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => choose(wanted), WAIT);
  };
  return html`<div class="window-slider">
    <label for="window-size"><b>Window</b></label>
    <input
      id="window-size" type="range" min=${limits[0]} max=${limits[1]} step=${STEP} value=${value} onInput=${move}
      aria-valuetext=${`${value.toLocaleString("en")} tokens`} />
    <output for="window-size" aria-busy=${busy}>${value.toLocaleString("en")} tokens</output>
  </div>`;
}
