// Pan and zoom: where a drawing is on the screen. A point of the drawing is shown at (x · scale + left, y · scale + top).
import { useCallback, useLayoutEffect, useRef, useState } from "../../../html.js";

const SMALLEST = 0.04;
const LARGEST = 3;
const MARGIN = 24;
const READABLE = 0.5;
const bounded = (scale) => Math.min(LARGEST, Math.max(SMALLEST, scale));

// `focus` is the point of the drawing that is shown when all of it would be too small to be read.
export function useCamera(width, height, focus) {
  const frame = useRef(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const [view, setView] = useState({ left: MARGIN, top: MARGIN, scale: 1 });
  const untouched = useRef(true); // fits the drawing into the frame until somebody moves it

  // Before the first frame is drawn, so that nothing is seen to jump.
  useLayoutEffect(() => {
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = frame.current;
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);

  const fit = useCallback(() => {
    untouched.current = true;
    if (!size.width || !width) return;
    const scale = bounded(Math.min((size.width - 2 * MARGIN) / width, (size.height - 2 * MARGIN) / height, 1));
    setView({ scale, left: (size.width - width * scale) / 2, top: (size.height - height * scale) / 2 });
  }, [size, width, height]);

  const begin = useCallback(() => {
    fit();
    if (!size.width || !focus) return;
    setView((old) => {
      if (old.scale >= READABLE) return old;
      return { scale: READABLE, left: size.width / 2 - focus[0] * READABLE, top: size.height / 2 - focus[1] * READABLE };
    });
  }, [fit, focus]);

  useLayoutEffect(() => {
    if (untouched.current) begin();
  }, [begin]);

  const pan = useCallback((x, y) => {
    untouched.current = false;
    setView((old) => ({ ...old, left: old.left + x, top: old.top + y }));
  }, []);

  // The point (x, y) of the frame stays where it is; its middle, if none is given.
  const zoom = useCallback((factor, x = size.width / 2, y = size.height / 2) => {
    untouched.current = false;
    setView((old) => {
      const scale = bounded(old.scale * factor);
      const change = scale / old.scale;
      return { scale, left: x - (x - old.left) * change, top: y - (y - old.top) * change };
    });
  }, [size]);

  // Brings a point of the drawing to the middle, large enough to be read.
  const centre = useCallback((x, y) => {
    untouched.current = false;
    setView((old) => {
      const scale = Math.max(old.scale, 0.8);
      return { scale, left: size.width / 2 - x * scale, top: size.height / 2 - y * scale };
    });
  }, [size]);

  const shows = (x, y, boxWidth, boxHeight) =>
    x * view.scale + view.left >= 0 && (x + boxWidth) * view.scale + view.left <= size.width &&
    y * view.scale + view.top >= 0 && (y + boxHeight) * view.scale + view.top <= size.height;

  return { frame, size, view, fit, pan, zoom, centre, shows };
}
