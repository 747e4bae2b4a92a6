// One block of a view: its kind, its size, its text.
import { html } from "../../html.js";
import { short } from "../../format.js";
import { Details } from "../../ui/details.js";
import { BANDS, usePlace } from "./place.js";
import { LongText } from "./text.js";

export function ViewRow({ row, quiet = false, note = "", textFrom, scale = 1, withHandles = row.short }) {
  const { openHandle } = usePlace();
  const title = html`<i class=${`swatch ${row.kind}`} title=${BANDS[row.kind]}></i>
    <b class="small clip">${row.label || BANDS[row.kind]}</b>
    ${row.short && html`<span class="badge">shortened</span>`}
    ${note && html`<span class="badge">${note}</span>`}
    <span class="muted small end">${short(row.tokens * scale)} tokens</span>`;
  const body = html`<${LongText} text=${row.text} event=${row.event} block=${row.block} from=${textFrom} />`;
  const handles = withHandles && row.handles?.length > 0 && html`<${RowHandles} handles=${row.handles} open=${openHandle} />`;
  if (quiet) return html`<${Details} class="view-row quiet" title=${title}>${() => html`${body}${handles}`}</${Details}>`;
  return html`<section class="view-row"><header class="row">${title}</header>${body}${handles}</section>`;
}

const RowHandles = ({ handles, open }) => html`<p class="small">
  ${handles.map((handle) => html`<button class="handle" key=${handle} onClick=${() => open(handle)}>${handle}</button> `)}
</p>`;
