// An agent in a sandbox, beside people: starts a server and waits for its line, runs tests, mends what fails; types at a shell; hands
// the keyboard to a person where a decision is theirs, and goes on when it comes back.
//
//   SBX_TOKEN=… node examples/agent/agent.ts https://sbx.example.com SANDBOX

import { type Action, type Model, scriptedModel } from "./model.ts";
import { SandboxCalls } from "./sandbox-calls.ts";

/** The shell that people look at, and may take over. */
const SHELL = "agent";
const SERVER = "server";
const WAIT_MS = 60_000;
/** A person may take their time. */
const PERSON_MS = 3_600_000;

export type Told = (line: string) => void;

export class Agent {
  readonly #sandbox: SandboxCalls;
  readonly #model: Model;
  readonly #tell: Told;
  /** How much it has typed: makes each call repeatable. */
  #typed = 0;
  /** Where the output ended before it typed last: a wait that looks from here misses nothing. */
  #from = 0;

  constructor(sandbox: SandboxCalls, model: Model, tell: Told) {
    this.#sandbox = sandbox;
    this.#model = model;
    this.#tell = tell;
  }

  /** @returns The model's last words. */
  async work(): Promise<string> {
    await this.#sandbox.start(SHELL, { cmd: "bash", args: ["--norc"], tty: true, mode: "exclusive" });
    for (let seen = "the sandbox is there"; ; ) {
      const action = this.#model(seen);
      if (action.do === "finish") return action.words;
      seen = await this.#act(action);
      this.#tell(`${action.do}: ${seen}`);
    }
  }

  async #act(action: Exclude<Action, { do: "finish" }>): Promise<string> {
    switch (action.do) {
      case "serve": {
        await this.#sandbox.start(SERVER, { command: action.command });
        const ready = await this.#sandbox.wait(SERVER, { until: { match: action.ready }, from: 0, timeoutMs: WAIT_MS });
        return ready.outcome === "met" ? `ready: ${ready.match?.groups[0]}` : `${ready.outcome}: ${ready.output}`;
      }
      case "run": {
        const { exit, output, state } = await this.#sandbox.run({ command: action.command, waitMs: WAIT_MS });
        return `${exit === undefined ? state : `exit ${exit.code}`}\n${output}`;
      }
      case "type":
        return this.#type(action.line, action.until);
      case "ask":
        return this.#ask(action.question);
    }
  }

  async #type(line: string, until: string): Promise<string> {
    const { to, outputOffset } = await this.#sandbox.type(SHELL, line, this.#typed);
    [this.#typed, this.#from] = [to, outputOffset];
    const { outcome, output } = await this.#sandbox.wait(SHELL, {
      until: { match: until },
      from: this.#from,
      timeoutMs: WAIT_MS,
    });
    return `${outcome}: ${output}`;
  }

  /** Lets go of the keyboard, waits until a person has had it and released it, and takes it again. */
  async #ask(question: string): Promise<string> {
    this.#tell(`question: ${question}`);
    await this.#sandbox.keyboard(SHELL, "release");
    // The next output of the prompt's program shows the person's answer.
    const answered = await this.#sandbox.wait(SHELL, {
      until: { match: "^(deployed|not deployed)$", flags: "m" },
      from: this.#from,
      timeoutMs: PERSON_MS,
    });
    await this.#sandbox.wait(SHELL, { until: { keyboard: true }, timeoutMs: PERSON_MS });
    const { mine } = await this.#sandbox.keyboard(SHELL, "request");
    return `${answered.match?.text ?? answered.outcome}, and the keyboard is ${mine ? "mine" : "another's"} again`;
  }
}

if (import.meta.main) {
  const [origin = "", sandbox = "default"] = process.argv.slice(2);
  const calls = new SandboxCalls(origin, sandbox, process.env.SBX_TOKEN ?? "");
  console.log(await new Agent(calls, scriptedModel(), console.log).work());
}
