// A real tmux, driven by us and by others at once: what we know of its panes is what it says itself, at each step.

import type { PaneAction } from "sandbox-stdio/panes";
import { afterEach, expect, test } from "vitest";
import { Random } from "../../../packages/local/src/base/random.ts";
import { Tmux } from "./tmux-harness.ts";

const STEPS = Number(process.env.PANES_STEPS ?? 200);
const SEED = Number(process.env.PANES_SEED ?? 1);
/** `tmux -CC` on a PTY for every second seed, else `tmux -C` on pipes: both say the same. */
const IS_TERMINAL = SEED % 2 === 0;

let tmux: Tmux | undefined;
afterEach(() => tmux?.close());

/** A step, by the bridge or by a `tmux …` in a shell. */
function action(random: Random, tmux: Tmux): PaneAction {
  const { panes, windows } = tmux.panes.session.list;
  const pane = random.pick(panes).id;
  const roll = random.int(0, 99);
  if (panes.length < 4 || roll < 35) return { action: "split", pane, across: roll % 2 === 0 ? "right" : "below" };
  if (roll < 55) return { action: "close", pane };
  if (roll < 70) return { action: "resize", pane, cols: 2 + random.int(0, 119), rows: 2 + random.int(0, 39) };
  if (roll < 75) return { action: "swap", pane, with: random.pick(panes).id };
  if (roll < 78)
    return { action: "join", pane, with: random.pick(panes).id, across: roll % 2 === 0 ? "right" : "below" };
  if (roll < 84) return { action: "select", pane };
  if (roll < 88) return { action: "zoom", pane };
  if (roll < 91) return { action: "break", pane };
  if (roll < 93) return { action: "new_window" };
  if (roll < 95) return { action: "name", pane, name: `name-${roll}` };
  const window = random.pick(windows).id;
  if (roll < 96) return { action: "rename_window", window, name: random.chance(0.3) ? "" : `window-${roll}` };
  if (roll < 97) return { action: "move_window", window, with: random.pick(windows).id, isBefore: random.chance(0.5) };
  return { action: "resize_window", window, cols: 40 + random.int(0, 159), rows: 20 + random.int(0, 59) };
}

function otherWords(step: PaneAction): string[] | undefined {
  switch (step.action) {
    case "split":
      return ["split-window", step.across === "right" ? "-h" : "-v", "-t", step.pane, "cat"];
    case "close":
      return ["kill-pane", "-t", step.pane];
    case "resize":
      return ["resize-pane", "-t", step.pane, "-x", String(step.cols), "-y", String(step.rows)];
    default:
      return undefined;
  }
}

test(`B4: ${STEPS} steps of splitting, resizing and closing agree with list-panes, over lost control clients`, async () => {
  const random = new Random(SEED);
  tmux = new Tmux(["cat"], IS_TERMINAL);
  tmux.run("set-option", "-g", "default-command", "cat");
  await tmux.until(() => tmux?.panes.session.list.panes.length === 1);
  for (let step = 0; step < STEPS; step++) {
    const next = action(random, tmux);
    // Others go on while the control client is lost; what we want waits for the next one.
    const words = random.int(0, 2) === 0 ? otherWords(next) : undefined;
    if (words === undefined) await tmux.until(() => tmux?.panes.session.isAttached === true);
    if (words === undefined) await tmux.act(next);
    else {
      try {
        tmux.run(...words);
      } catch {
        // No room for another pane: tmux refuses it to everybody.
      }
    }
    if (random.int(0, 19) === 0 && tmux.panes.pid > 0) process.kill(tmux.panes.pid, "SIGKILL");
    const truth = tmux.truth();
    const here = tmux;
    await here.until(() => here.known().join() === truth.join());
    expect(tmux.known(), `step ${step} of seed ${SEED}: ${JSON.stringify(next)}`).toEqual(truth);
  }
  expect(tmux.lost.length).toBeGreaterThan(STEPS / 50);
});
