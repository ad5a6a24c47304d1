// B11: which lists of commands a session with panes is on, and a pane of one.
import { parseAttachQuery } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import type { AttachSpec } from "../../src/attach/attach-spec.ts";
import type { CommandEnv } from "../../src/attach/command-policy.ts";
import { startRefusal } from "../../src/session/asked-process.ts";

function refused(env: CommandEnv, query: string): string | undefined {
  const parsed = parseAttachQuery(new URLSearchParams(query));
  if (!parsed.ok) throw new Error(parsed.detail);
  const spec = { query: parsed.query, who: { isAdmin: false } } as AttachSpec;
  return startRefusal(env, spec)?.message;
}

test.each<[CommandEnv, string, string | undefined]>([
  [{}, "panes=1", undefined],
  [{ COMMAND_ALLOW: "bash" }, "panes=1", 'the command "tmux" is not among those that may be'],
  [{ COMMAND_ALLOW: "tmux" }, "panes=1", 'the command "bash" is not among those that may be'],
  [{ COMMAND_ALLOW: "tmux,bash" }, "panes=1", undefined],
  [{ COMMAND_ALLOW: "tmux" }, "cmd=tmux&arg=-CC", 'the command "bash" is not among those that may be'],
  [{ COMMAND_ALLOW: "bash,cat" }, "panes=1&cmd=cat", 'the command "tmux" is not among those that may be'],
  [
    { COMMAND_BLOCK: "tmux" },
    "cmd=tmux&arg=-CC",
    'the command "tmux" is on the list of commands that may not be started',
  ],
  [{ COMMAND_BLOCK: "nc" }, "panes=1&cmd=nc", 'the command "nc" is on the list of commands that may not be started'],
  // It is there already, and was judged when it was started.
  [{ COMMAND_ALLOW: "cat" }, "pane=main:0", undefined],
])("with %j, %s: %s", (env, query, message) => {
  expect(refused(env, query)).toBe(message);
});
