// `sbx-stdio serve` from the packed file, installed in an empty folder, and a person's steps in the browser without one.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { request } from "node:http";
import { tmpdir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { childEnv } from "../../../../packages/local/src/base/env.ts";
import { BIN } from "../../../../packages/local/src/base/paths.ts";
import { anyFreePort } from "../../../../packages/local/src/base/ports.ts";
import { isAlive } from "../../../../packages/local/src/processes/proc.ts";
import { packed, type Ran, run } from "./installed.ts";
import { until } from "./wait.ts";

/** The folder of an installation, as npm lays it out (`packages/packed` has it do so), with the programs that it would have fetched. */
export async function installServe(): Promise<string> {
  const project = mkdtempSync(join(tmpdir(), "sbx-packed-"));
  const [home, bin] = ["sbx-stdio", ".bin"].map((name) => join(project, "node_modules", name)) as [string, string];
  for (const folder of [home, bin]) mkdirSync(folder, { recursive: true });
  const { code, stderr } = await run("tar", ["xzf", (await packed()).cli, "--strip-components=1", "-C", home], project);
  if (code !== 0) throw new Error(`Cannot unpack: ${stderr}`);
  symlinkSync("../sbx-stdio/bin/sbx-stdio.js", join(bin, "sbx-stdio"));
  const { platform, arch } = process;
  const programs = {
    [`@cloudflare/workerd-${platform}-${arch === "x64" ? "64" : arch}/bin/workerd`]: "workerd",
    [`@oven/bun-${platform}-${arch === "arm64" ? "aarch64" : arch}/bin/bun`]: "bun",
  };
  for (const [path, name] of Object.entries(programs)) {
    mkdirSync(join(project, "node_modules", dirname(path)), { recursive: true });
    symlinkSync(join(BIN, name), join(project, "node_modules", path));
  }
  return project;
}

/** Ends the bridge of this file, if there is one, with its sessions. */
async function endBridge(file: string): Promise<void> {
  if (!existsSync(file)) return;
  const { pid } = JSON.parse(readFileSync(file, "utf8")) as { pid: number };
  if (!isAlive(pid)) return;
  process.kill(pid, "SIGTERM");
  await until("the bridge to end", () => !isAlive(pid));
}

/** Clean-up, the last first: at the end of a test, or of a file that says so. */
type AtEnd = (end: () => Promise<void>) => void;

/** A folder for the state of servers, whose bridges end with the test. */
export function stateFolder(atEnd: AtEnd = onTestFinished): string {
  const dir = mkdtempSync(join(tmpdir(), "sbx-st-"));
  atEnd(async () => {
    await endBridge(join(dir, "bridge.json"));
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

/** One of the other actions of `serve`. */
export const act = (project: string, state: string, words: readonly string[], port = "1"): Promise<Ran> =>
  run(commandOf(project), ["serve", ...words, "--port", port, "--state", state], project);

const isRoot = process.getuid?.() === 0;
/** Options of `serve user` that it needs here. */
export const AS: readonly string[] = isRoot ? ["--as", "nobody"] : [];
/** As whom the sessions of such a user run. */
export const USER = isRoot ? "nobody" : userInfo().username;

export const commandOf = (project: string): string => join(project, "node_modules/.bin/sbx-stdio");

export type Attached = Awaited<ReturnType<typeof attached>>;

/** The command line, attached to a program by pipes. @param by The server's address and the environment, if not the usual. */
export async function attached(
  project: string,
  served: Served,
  program: readonly string[],
  { origin = served.origin, env: more = {} }: { origin?: string; env?: Record<string, string> } = {},
) {
  const words = [origin, "--sandbox", "home", "--", ...program];
  const env = childEnv({ SBX_TOKEN: await served.token(), HOME: project, ...more });
  const child = spawn(commandOf(project), words, { cwd: project, env, stdio: ["pipe", "pipe", "ignore"] });
  let [output, lines] = ["", 0];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    lines += text.split("\n").length - 1;
  });
  const exited = once(child, "exit");
  child.stdin.on("error", () => undefined); // It has ended, and its exit says why.
  onTestFinished(() => void child.kill("SIGKILL"));
  const type = (text: string): void => void child.stdin.write(text);
  return {
    type,
    output: () => output,
    lines: () => lines,
    says: async (text: string): Promise<void> => {
      type(text);
      await until(`${JSON.stringify(text)} to come back`, () => output.endsWith(text));
    },
    end: async () => {
      child.stdin.end();
      const [code] = await exited;
      return { code, output };
    },
  };
}

export class Served {
  readonly port: number;
  readonly state: string;
  readonly origin: string;
  readonly #project: string;
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | null>;
  #token: Promise<string> | undefined;
  output = "";

  private constructor(project: string, child: ChildProcess, place: { port: number; state: string; origin: string }) {
    this.#project = project;
    this.port = place.port;
    this.state = place.state;
    this.origin = place.origin;
    this.#child = child;
    this.#exited = once(child, "exit").then(([code]) => code);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
      });
    }
  }

  /** @param words Options, and a program after `--`. Resolves once its link is there. */
  static async start(
    project: string,
    words: readonly string[] = [],
    {
      atEnd = onTestFinished,
      state = stateFolder(atEnd),
      port = 0,
      env: more = {},
    }: { atEnd?: AtEnd; state?: string; port?: number; env?: Record<string, string> } = {},
  ): Promise<Served> {
    const listening = port || (await anyFreePort());
    const place = { port: listening, state, origin: `http://localhost:${listening}` };
    const options = ["--port", String(listening), "--state", state, "--link-file", join(state, "link")];
    const env = childEnv({ SHELL: "/bin/bash", PS1: "$ ", ...more });
    rmSync(join(state, "link"), { force: true });
    const child = spawn(commandOf(project), ["serve", ...options, ...words], {
      cwd: project,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const served = new Served(project, child, place);
    atEnd(() => served.kill());
    const isUp = new Promise<void>((resolve) => {
      child.stdout?.on("data", () => served.output.includes("sbx-stdio serves") && resolve());
    });
    const ended = served.exited.then((code) => {
      throw new Error(`serve ended with ${code}:\n${served.output}`);
    });
    await Promise.race([isUp, ended]);
    ended.catch(() => undefined);
    return served;
  }

  get exited(): Promise<number | null> {
    return this.#exited;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The owner's, who asks for it once: each time costs a third of a second of work. */
  token(): Promise<string> {
    const asked = () => act(this.#project, this.state, ["token"], String(this.port));
    this.#token ??= asked().then(({ stdout }) => stdout.trim());
    return this.#token;
  }

  get link(): string {
    return readFileSync(join(this.state, "link"), "utf8").trim();
  }

  get key(): string {
    return this.link.split("#key=")[1] ?? "";
  }

  /** The loopback address for this machine's own programs. */
  get inner(): string {
    return `http://${JSON.parse(readFileSync(join(this.state, "server.json"), "utf8")).innerHost}`;
  }

  /** As systemd ends it. */
  async stop(): Promise<number | null> {
    this.#child.kill("SIGTERM");
    return this.#exited;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }
}

/** A request to a loopback port, with headers that fetch() sets itself. A form is posted. */
export function knock(
  port: number,
  { path, headers, form }: { path: string; headers: Record<string, string>; form?: Record<string, string> },
): Promise<{ readonly status: number }> {
  const body = form && new URLSearchParams(form).toString();
  const type = form && { "Content-Type": "application/x-www-form-urlencoded", "Content-Length": body?.length };
  return new Promise((resolve, reject) => {
    const place = { host: "127.0.0.1", port, path, method: form === undefined ? "GET" : "POST", agent: false };
    const asked = request({ ...place, headers: { ...headers, ...type } }, (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0 });
    });
    asked.once("error", reject);
    asked.end(body);
  });
}

/** A browser as far as logins need one: cookies, forms and redirects. */
export class Visitor {
  readonly origin: string;
  readonly #cookies = new Map<string, string>();
  readonly #headers: Readonly<Record<string, string>>;

  constructor(origin: string, headers: Readonly<Record<string, string>> = {}) {
    this.origin = origin;
    this.#headers = headers;
  }

  ask(path: string, form?: Readonly<Record<string, string>>): Promise<Response> {
    return this.#fetch(path, form && new URLSearchParams(form));
  }

  /** Posts JSON. */
  send(path: string, body: string): Promise<Response> {
    return this.#fetch(path, body);
  }

  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  async #fetch(path: string, body?: URLSearchParams | string): Promise<Response> {
    const response = await fetch(new URL(path, this.origin), {
      method: body === undefined ? "GET" : "POST",
      headers: {
        ...this.#headers,
        cookie: this.cookie,
        ...(body !== undefined && { origin: this.origin }),
        ...(typeof body === "string" && { "content-type": "application/json" }),
      },
      redirect: "manual",
      ...(body !== undefined && { body }),
    });
    for (const one of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
      if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(one)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    return response;
  }

  exchange(key: string): Promise<Response> {
    return this.ask("/key", { key });
  }

  /** Follows the login to its form, or to its end where nothing is asked. @returns The last answer. */
  async follow(path = "/login"): Promise<{ readonly path: string; readonly response: Response }> {
    let at = path;
    for (;;) {
      const response = await this.ask(at);
      const next = response.headers.get("location");
      if (next === null) return { path: at, response };
      await response.body?.cancel();
      const { pathname, search } = new URL(next, this.origin);
      at = pathname + search;
    }
  }

  /** Fills the form of the login in. @returns The answer to it, followed to the end where it leads on. */
  async login(form: Readonly<Record<string, string>>): Promise<Response> {
    const { path } = await this.follow();
    const response = await this.ask(path, form);
    const next = response.headers.get("location");
    return next === null ? response : (await this.follow(next)).response;
  }

  async me(): Promise<Record<string, unknown>> {
    return (await (await this.ask("/api/me")).json()) as Record<string, unknown>;
  }
}
