// `/v1/sandbox` as a caller without any library has it: one sandbox of somebody's, and what each call of it came back with.
import { api, type Person } from "../system/system.ts";

/** An event of an exec: `stdout` and `stderr` as bytes of text, the others as they are. */
export type ExecEvent = { readonly event: string; readonly data: string };

export class ApiSandbox {
  readonly who: Person;
  readonly id: string;

  private constructor(who: Person, id: string) {
    this.who = who;
    this.id = id;
  }

  static async make(who: Person): Promise<ApiSandbox> {
    const response = await api(who, "/v1/sandbox", { method: "POST", body: "{}" });
    if (response.status !== 200) throw new Error(`No sandbox: ${await response.text()}`);
    const { id } = (await response.json()) as { id: string };
    return new ApiSandbox(who, id);
  }

  fetch(method: string, rest: string, init: RequestInit = {}, who = this.who): Promise<Response> {
    return api(who, `/v1/sandbox/${this.id}${rest}`, { method, ...init });
  }

  post(rest: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return this.fetch("POST", rest, { body: JSON.stringify(body), headers });
  }

  delete(): Promise<Response> {
    return this.fetch("DELETE", "");
  }

  /** How many processes run in it. */
  async alive(): Promise<number> {
    const response = await api(this.who, `/api/sandboxes/${this.id}/sessions`);
    const { sessions } = (await response.json()) as { sessions: { state: string }[] };
    return sessions.filter(({ state }) => state === "running").length;
  }

  /** All events of an exec, comments left out. */
  async exec(argv: readonly string[], more: object = {}, session?: string): Promise<ExecEvent[]> {
    const response = await this.post(
      "/exec",
      { argv, ...more },
      session === undefined ? {} : { "Session-Id": session },
    );
    if (response.status !== 200) throw new Error(`No exec: ${response.status} ${await response.text()}`);
    return eventsOf(await response.text());
  }

  /** What a process said, its streams apart, and the event that ended it. */
  async outcome(argv: readonly string[], more: object = {}, session?: string) {
    const events = await this.exec(argv, more, session);
    const all = (name: string) =>
      Buffer.concat(
        events.filter(({ event }) => event === name).map(({ data }) => Buffer.from(data, "base64")),
      ).toString();
    const end = events.at(-1);
    return { stdout: all("stdout"), stderr: all("stderr"), [end?.event ?? "none"]: JSON.parse(end?.data ?? "null") };
  }
}

export function eventsOf(text: string): ExecEvent[] {
  return text.split("\n\n").flatMap((block) => {
    const event = /^event: (.*)$/m.exec(block)?.[1];
    const data = /^data: (.*)$/m.exec(block)?.[1];
    return event === undefined ? [] : [{ event, data: data ?? "" }];
  });
}

/** A refusal in the words of this interface. */
export async function refusedAs(response: Response): Promise<[number, string]> {
  const body = (await response.json()) as { error: string; code: string };
  if (typeof body.error !== "string") throw new Error(`No words: ${JSON.stringify(body)}`);
  return [response.status, body.code];
}
