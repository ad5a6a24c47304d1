// A CPU profile as a table: which functions the samples were in, most first. Both runtimes write the format of V8.

type Node = {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
};

export type CpuProfile = {
  readonly nodes: readonly Node[];
  readonly samples?: readonly number[];
  /** Microseconds from each sample to the one before it. */
  readonly timeDeltas?: readonly number[];
};

const MOST_ROWS = 25;
/** JavaScriptCore takes no samples asleep, and says so nowhere: a longer step than this was sleep. */
const LONGEST_STEP_US = 2_000;

/** The time that each function spent itself, without its callees. Time asleep is not counted. */
export function functionTable({ nodes, samples = [], timeDeltas = [] }: CpuProfile): string {
  const byId = new Map(nodes.map((node) => [node.id, nameOf(node)]));
  const spent = new Map<string, number>();
  let total = 0;
  samples.forEach((id, i) => {
    const name = byId.get(id) ?? "?";
    if (name === "(idle)") return;
    const ms = Math.min(timeDeltas[i] ?? 0, LONGEST_STEP_US) / 1000;
    total += ms;
    spent.set(name, (spent.get(name) ?? 0) + ms);
  });
  const rows = [...spent].sort(([, a], [, b]) => b - a).slice(0, MOST_ROWS);
  const lines = rows.map(
    ([name, ms]) => `${ms.toFixed(0).padStart(8)} ${((100 * ms) / total).toFixed(1).padStart(5)} %  ${name}`,
  );
  return [`${total.toFixed(0).padStart(8)} ms in all`, ...lines].join("\n");
}

function nameOf({ callFrame: { functionName, url, lineNumber } }: Node): string {
  const file = url.split("/").at(-1) ?? "";
  return `${functionName || "(anonymous)"}${file === "" ? "" : `  ${file}:${lineNumber + 1}`}`;
}
