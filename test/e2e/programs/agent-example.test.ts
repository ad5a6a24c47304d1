// examples/agent, with its scripted stand-in for the model, and a person who answers what it must not decide.
import { expect, test } from "vitest";
import { Agent } from "../../../examples/agent/agent.ts";
import { scriptedModel } from "../../../examples/agent/model.ts";
import { SandboxCalls } from "../../../examples/agent/sandbox-calls.ts";
import { connect } from "../support/clients/client.ts";
import { Programs } from "../support/clients/programs.ts";
import { person, system } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

/** What the agent finds: a server, a test that fails for one wrong word, and a deployment that asks. */
const PROJECT = `
echo 'Helo, world' > greeting.txt
printf '%s\\n' 'echo starting' 'echo "listening on 4321"' 'exec sleep 600' > server.sh
printf '%s\\n' 'grep -qx "Hello, world" greeting.txt && echo ok && exit 0' \\
  "echo \\"expected 'Hello, world', got '\\$(cat greeting.txt)'\\"; exit 1" > test.sh
printf '%s\\n' 'printf "Deploy to production? [y/n] "; read -r answer' \\
  '[ "$answer" = y ] && echo deployed || echo "not deployed"' > deploy.sh
`;

test("the example agent serves, tests, mends, asks a person at the keyboard, and goes on when it is back", async () => {
  const who = await person({ scope: "sandbox:connect sandbox:exec" });
  const at = new Programs(who);
  expect((await at.run({ cmd: "sh", args: ["-c", PROJECT] })).body).toMatchObject({ exit: { code: 0 } });
  const told: string[] = [];
  const calls = new SandboxCalls(system.origin, at.sandbox, who.token);
  const working = new Agent(calls, scriptedModel(), (line) => told.push(line)).work();
  let failure: unknown;
  working.catch((error: unknown) => {
    failure = error;
  });
  await until("the question", () => failure !== undefined || told.some((line) => line.startsWith("question:")));
  expect([failure, told]).toEqual([undefined, expect.any(Array)]);
  const human = await connect(who, { sandbox: at.sandbox, session: "agent", name: "Ann" });
  await human.output(/\[y\/n\] $/);
  human.say({ type: "request_stdin" });
  const { id } = (await human.hello()).you as { id: string };
  await until("the keyboard", () => human.messages("stdin_holder").some((one) => one.id === id));
  human.type("y\r");
  await human.output(/\r\ndeployed\r\n/);
  human.say({ type: "release_stdin" });
  expect(await working).toBe("Done, and deployed");
  expect(told.map((line) => line.split("\n")[0])).toEqual([
    "serve: ready: 4321",
    "run: exit 1",
    "run: exit 0",
    expect.stringMatching(/^type: met: /),
    expect.stringMatching(/^question: /),
    "ask: deployed, and the keyboard is mine again",
  ]);
});
