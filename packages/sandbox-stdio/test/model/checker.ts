// A breadth-first checker of small models: visits every state that any order of steps can reach, holds each to the invariants, and
// asks of each whether the goal can still be reached without another fault.

/** A step of a model. A fault may come, and need not. */
export type Step<S> = { readonly name: string; readonly isFault: boolean; readonly to: S };

export type Model<S> = {
  readonly start: S;
  steps(state: S): Step<S>[];
  /** @returns What is broken in this state; undefined if nothing is. */
  broken(state: S): string | undefined;
  isGoal(state: S): boolean;
};

export type Checked = {
  readonly states: number;
  readonly steps: number;
  /** The longest of the shortest ways to a state. */
  readonly depth: number;
  /** What was broken, and the shortest way there. */
  readonly violation?: { readonly what: string; readonly way: readonly string[] };
};

/** Kept as text: of many states that takes a tenth of the memory. */
type Visited = { readonly text: string; readonly from: number; readonly by: string; readonly depth: number };

export function check<S>(model: Model<S>, mostStates = 3_000_000): Checked {
  const text = JSON.stringify(model.start);
  const visited: Visited[] = [{ text, from: -1, by: "", depth: 0 }];
  const numbers = new Map<string, number>([[text, 0]]);
  /** For each state, the states from which a step without a fault leads to it. */
  const before: number[][] = [[]];
  const goals: number[] = [];
  let steps = 0;
  const done = (what?: string, at = 0): Checked => {
    const counts = { states: visited.length, steps, depth: visited.at(-1)?.depth ?? 0 };
    return what === undefined ? counts : { ...counts, violation: { what, way: wayTo(visited, at) } };
  };
  for (let at = 0; at < visited.length; at += 1) {
    const { text: now, depth } = visited[at] as Visited;
    const state = JSON.parse(now) as S;
    const what = model.broken(state);
    if (what !== undefined) return done(what, at);
    if (model.isGoal(state)) goals.push(at);
    for (const { name, isFault, to } of model.steps(state)) {
      steps += 1;
      const key = JSON.stringify(to);
      let number = numbers.get(key);
      if (number === undefined) {
        number = visited.push({ text: key, from: at, by: name, depth: depth + 1 }) - 1;
        numbers.set(key, number);
        before.push([]);
        if (number >= mostStates) throw new Error(`more than ${mostStates} states`);
      }
      if (!isFault) before[number]?.push(at);
    }
  }
  const stuck = firstStuck(goals, before);
  return stuck === undefined ? done() : done("it can't go on", stuck);
}

/** The first state from which no way leads to the goal. */
function firstStuck(goals: readonly number[], before: readonly (readonly number[])[]): number | undefined {
  const canEnd = new Uint8Array(before.length);
  const waiting: number[] = [];
  const note = (at: number) => {
    if (canEnd[at] === 1) return;
    canEnd[at] = 1;
    waiting.push(at);
  };
  for (const at of goals) note(at);
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) for (const from of before[at] ?? []) note(from);
  const stuck = canEnd.indexOf(0);
  return stuck === -1 ? undefined : stuck;
}

function wayTo(visited: readonly Visited[], to: number): string[] {
  const way: string[] = [];
  for (let at = to; at > 0; ) {
    const { from, by } = visited[at] as Visited;
    way.unshift(by);
    at = from;
  }
  return way;
}
