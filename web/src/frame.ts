// The page inside another one, such as a notebook: links within it, and a channel to who embedded it.
import { n } from "./data";
import { shared } from "./maps";
import * as selection from "./selection";

/** What the page says and is told: marked rows by their place in the page, and the row pointed at (-1: none). */
export type Message = { marked: Uint32Array } | { hovered: number };

function markedRows(): Uint32Array {
  const flags = selection.marked(),
    found = new Uint32Array(selection.nMarked());
  if (flags) for (let i = 0, at = 0; i < n; i++) if (flags[i]) found[at++] = i;
  return found;
}

/**
 * Whoever embeds the page may open the channel; the page speaks only through it, at once, and then not again before
 * the next frame: it need not wait until the maps are painted.
 */
function listen(): void {
  let port: MessagePort | null = null,
    told = false, // the selection came through the channel
    stale = { marked: false, hovered: false },
    asked = 0;
  const say = (message: Message) => port?.postMessage(message);
  const tell = () => {
    const { marked, hovered } = stale;
    stale = { marked: false, hovered: false };
    if (marked) say({ marked: markedRows() });
    if (hovered) say({ hovered: shared.current });
  };
  const later = (what: keyof typeof stale) => {
    stale[what] = true;
    if (asked) return;
    tell();
    asked = requestAnimationFrame(() => {
      asked = 0;
      tell();
    });
  };
  addEventListener("message", (event) => {
    if (event.source !== parent || event.data !== "lowdim" || !event.ports.length) return;
    port = event.ports[0];
    port.onmessage = ({ data }: MessageEvent<Message>) => {
      if (!("marked" in data)) return;
      told = true;
      selection.mark((found) => data.marked.forEach((row) => row < n && found(row)), "replace");
      told = false;
    };
  });
  selection.watch(() => told || later("marked"));
  const before = shared.pointed;
  shared.pointed = () => {
    before();
    later("hovered");
  };
}

export function framed(): void {
  if (parent === window) return;
  listen();
  // A page without an address of its own would follow a link to its own section out of itself.
  document.addEventListener("click", (event) => {
    const link = (event.target as Element).closest?.<HTMLAnchorElement>("a[href^='#']");
    if (!link) return;
    event.preventDefault();
    document.getElementById(link.getAttribute("href")!.slice(1))?.scrollIntoView();
  });
}
