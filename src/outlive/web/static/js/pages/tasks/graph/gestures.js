// Dragging, pinching, the wheel and the keyboard, as movements of the camera.
import { useRef } from "../../../html.js";

const STEP = 80; // pixels that an arrow key moves by
const MOVED = 4; // pixels from which on a press is a drag, not a click

export function useGestures(camera, { next, choose }) {
  const pointers = useRef(new Map());
  const dragged = useRef(false);

  const place = (event) => {
    const box = camera.frame.current.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const onPointerDown = (event) => {
    if (event.button) return;
    if (!pointers.current.size) dragged.current = false;
    pointers.current.set(event.pointerId, { ...place(event), startX: event.clientX, startY: event.clientY });
  };
  const onPointerMove = (event) => {
    const before = pointers.current.get(event.pointerId);
    if (!before) return;
    const now = place(event);
    if (!dragged.current) {
      if (Math.hypot(event.clientX - before.startX, event.clientY - before.startY) < MOVED) return;
      dragged.current = true;
      camera.frame.current.setPointerCapture(event.pointerId);
    }
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const [was, is] = [before, now].map((one) => Math.hypot(one.x - other.x, one.y - other.y));
      if (was > 0) camera.zoom(is / was, (now.x + other.x) / 2, (now.y + other.y) / 2);
    } else {
      camera.pan(now.x - before.x, now.y - before.y);
    }
    pointers.current.set(event.pointerId, { ...before, ...now });
  };
  const onPointerUp = (event) => pointers.current.delete(event.pointerId);
  const onWheel = (event) => {
    event.preventDefault();
    const { x, y } = place(event);
    const lines = event.deltaMode === 1 ? 16 : 1;
    camera.zoom(Math.exp(-event.deltaY * lines * 0.0015), x, y);
  };
  const keys = {
    ArrowLeft: () => camera.pan(STEP, 0),
    ArrowRight: () => camera.pan(-STEP, 0),
    ArrowUp: () => camera.pan(0, STEP),
    ArrowDown: () => camera.pan(0, -STEP),
    "+": () => camera.zoom(1.25),
    "=": () => camera.zoom(1.25),
    "-": () => camera.zoom(0.8),
    0: camera.fit,
    n: () => next(1),
    p: () => next(-1),
    Enter: choose,
  };
  const onKeyDown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  };
  // A click at the end of a drag opens nothing.
  const wasDrag = () => dragged.current;
  return { handlers: { onPointerDown, onPointerMove, onPointerUp, onPointerCancel: onPointerUp, onWheel, onKeyDown }, wasDrag };
}
