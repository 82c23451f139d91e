// Long computations in short slices, so that the page keeps answering; a new one takes the place of an old one.
export type Job<T> = Generator<void, T>;

const SLICE = 12; // milliseconds
const channel = new MessageChannel(),
  queue: (() => void)[] = [];
channel.port1.onmessage = () => queue.shift()?.();
/** Soon, but after the browser had a chance to paint and to listen. */
function soon(act: () => void): void {
  queue.push(act);
  channel.port2.postMessage(0);
}

/** Runs a job slice by slice; the function returned drops it. */
export function run<T>(job: Job<T>, done: (found: T) => void): () => void {
  let dropped = false;
  function slice(): void {
    if (dropped) return;
    const end = performance.now() + SLICE;
    do {
      const step = job.next();
      if (step.done) return done(step.value);
    } while (performance.now() < end);
    soon(slice);
  }
  soon(slice);
  return () => {
    dropped = true;
  };
}
