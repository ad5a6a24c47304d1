// A clock for a page or a command line that runs faster than the real one, so that a half-open connection, which is noticed after 40 s by
// design, is noticed sooner. Dates stay true: tokens are about them.

/** Runs in the page or the process, alone: it can use nothing from here. @param speed How many of its seconds pass in a real one. */
export function speedUp(speed: number): void {
  const { setTimeout: inTime, setInterval: each } = globalThis;
  const now = performance.now.bind(performance);
  performance.now = () => now() * speed;
  const faster =
    (real: (act: () => void, ms?: number) => unknown) =>
    (act: () => void, ms = 0): unknown =>
      real(act, ms / speed);
  Object.assign(globalThis, { setTimeout: faster(inTime), setInterval: faster(each) });
}

/** The argument that has Node do it before the program. */
export function fastNode(speed: number): string {
  const script = `(${String(speedUp)})(${speed})`;
  return `--import=data:text/javascript,${encodeURIComponent(script)}`;
}
