// The conversation: follows what happens while its end is in view.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../html.js";
import { plural } from "../../format.js";
import { Empty } from "../../ui/states.js";
import { itemOf } from "./feed.js";
import { Item } from "./item.js";

const NEAR = 60; // pixels from an end that count as being there

// `arriving` is shown as the last item.
export function Conversation({ feed, event, arriving }) {
  const box = useRef(null);
  const content = useRef(null);
  const following = useRef(!event);
  const end = useRef(0); // where the box was scrolled to when it last showed the end
  const before = useRef({ first: 0, height: 0 });
  const [away, setAway] = useState(Boolean(event));
  const { items, older, newer } = feed;
  const first = items[0]?.id ?? 0;
  const last = items.at(-1)?.id ?? 0;
  const chosen = event ? itemOf(items, event) : 0;

  const follow = () => {
    const { current } = box;
    if (!following.current || current.dataset.newer) return;
    current.scrollTop = current.scrollHeight;
    end.current = current.scrollTop;
  };

  // What was above stays where it is when older items come; the end stays in view when it was.
  useLayoutEffect(() => {
    const { current } = box;
    follow();
    if (first < before.current.first) current.scrollTop += current.scrollHeight - before.current.height;
    before.current = { first, height: current.scrollHeight };
  }, [items]);

  // The end stays in view while the last item grows, or the box shrinks because a question appears below it.
  useLayoutEffect(() => {
    const observer = new ResizeObserver(follow);
    observer.observe(box.current);
    observer.observe(content.current);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    if (!event) return;
    following.current = false;
    const found = box.current.querySelector(`[data-event="${chosen}"]`);
    if (!found) return;
    found.scrollIntoView({ block: "center" });
    found.focus({ preventScroll: true });
  }, [event, chosen]);

  const loading = useRef(false);
  const more = async (show) => {
    if (loading.current) return;
    loading.current = true;
    await show();
    loading.current = false;
  };
  const scrolled = () => {
    const { scrollTop, scrollHeight, clientHeight } = box.current;
    const atEnd = scrollHeight - scrollTop - clientHeight < NEAR;
    // More may have come since the end was shown: only scrolling up leaves it.
    const stays = following.current && scrollTop > end.current - NEAR;
    following.current = (atEnd || stays) && !newer;
    before.current.height = scrollHeight;
    setAway(!following.current);
    if (scrollTop < NEAR && older) more(feed.showOlder);
    if (atEnd && newer) more(feed.showNewer);
  };
  const jump = async () => {
    following.current = true;
    if (newer) await feed.showNewest();
    follow();
    setAway(false);
  };

  return html`<div class="talk-box">
    <div class="talk-scroll" ref=${box} data-newer=${newer > 0 ? "yes" : undefined} onScroll=${scrolled} tabindex="0" role="region" aria-label="What was said and done">
      <div class="talk-items" ref=${content}>
      ${feed.damage.map((text) => html`<p class="notice warn small" key=${text}>Left out: ${text}</p>`)}
      ${older > 0 &&
      html`<button class="button small-button" onClick=${() => more(feed.showOlder)}>Show older (${plural(older, "more item")})</button>`}
      ${!items.length && !arriving && html`<${Empty} title="Nothing was said yet"><p>The conversation appears here as it happens.</p></${Empty}>`}
      ${items.map((item) => html`<${Item} key=${item.id} item=${item} chosen=${item.id === chosen} />`)}
      ${newer > 0 &&
      html`<button class="button small-button" onClick=${() => more(feed.showNewer)}>Show newer (${plural(newer, "more item")})</button>`}
      ${!newer && arriving}
      </div>
    </div>
    ${away && (newer > 0 || last > 0) && html`<button class="button jump" onClick=${jump}>Jump to newest ↓</button>`}
  </div>`;
}
