// A widget of a notebook (anywidget): the page in a frame, its marked rows and the row pointed at kept in the model.
import type { Message } from "./frame";

interface Model {
  get(name: "_page" | "_title"): string;
  get(name: "_marked"): DataView;
  get(name: "_height"): number;
  set(name: string, value: unknown): void;
  save_changes(): void;
  on(event: string, changed: () => void): void;
  off(event: string, changed: () => void): void;
}

/** Little-endian, whatever the machine. */
function unpack(view: DataView): Uint32Array {
  return Uint32Array.from({ length: view.byteLength / 4 }, (_, i) => view.getUint32(4 * i, true));
}
function pack(rows: Uint32Array): DataView {
  const view = new DataView(new ArrayBuffer(4 * rows.length));
  rows.forEach((row, i) => view.setUint32(4 * i, row, true));
  return view;
}
const same = (a: Uint32Array, b: Uint32Array) => a.length === b.length && a.every((row, i) => row === b[i]);

/** Whether the notebook is dark, where it says so; its reader may have chosen another scheme than that of the system. */
function scheme(): string {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  if (jpThemeLight !== undefined) return jpThemeLight === "false" ? "dark" : "light";
  if (vscodeThemeKind !== undefined) return vscodeThemeKind.includes("light") ? "light" : "dark";
  return "normal";
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const frame = document.createElement("iframe");
  let port: MessagePort | null = null,
    shown: Uint32Array = new Uint32Array(0);
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.title = model.get("_title");
  Object.assign(frame.style, { width: "100%", border: "0", display: "block", colorScheme: scheme() });

  const keep = (name: string, value: unknown) => {
    model.set(name, value);
    model.save_changes();
  };
  const heard = ({ data }: MessageEvent<Message>) => {
    if ("hovered" in data) return keep("_hovered", data.hovered);
    shown = data.marked;
    keep("_marked", pack(shown));
  };
  const mark = () => {
    const wanted = unpack(model.get("_marked"));
    if (same(wanted, shown)) return;
    shown = wanted;
    port?.postMessage({ marked: wanted } satisfies Message);
  };
  const size = () => (frame.style.height = `${model.get("_height")}px`);
  // A frame that is moved within the notebook is loaded again: each time it gets a channel and what is marked.
  frame.addEventListener("load", () => {
    const channel = new MessageChannel();
    port = channel.port1;
    port.onmessage = heard;
    shown = new Uint32Array(0);
    frame.contentWindow!.postMessage("lowdim", "*", [channel.port2]);
    mark();
  });
  model.on("change:_marked", mark);
  model.on("change:_height", size);
  size();
  frame.srcdoc = model.get("_page");
  el.append(frame);
  return () => {
    model.off("change:_marked", mark);
    model.off("change:_height", size);
    port?.close();
    frame.remove();
  };
}

export default { render };
