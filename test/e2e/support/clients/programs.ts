// The programs' interface as a caller without any library has it: requests below a sandbox, and what came back.
import type { Description, ReadAnswer, RunAnswer, WaitAnswer } from "sandbox-stdio/client";
import { api, fresh, type Person } from "../system/system.ts";

export type Answer<T = Record<string, unknown>> = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
};

export type { Description, ReadAnswer };

/** Somebody's programs in one sandbox. */
export class Programs {
  readonly who: Person;
  readonly sandbox: string;

  constructor(who: Person, sandbox = fresh("box")) {
    this.who = who;
    this.sandbox = sandbox;
  }

  path(rest: string): string {
    return `/api/sandboxes/${this.sandbox}${rest}`;
  }

  async ask<T = Record<string, unknown>>(method: string, rest: string, body?: unknown): Promise<Answer<T>> {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const response = await api(this.who, this.path(rest), init);
    const text = await response.text();
    const parsed = text === "" ? {} : (JSON.parse(text) as unknown);
    return { status: response.status, headers: response.headers, body: parsed as T };
  }

  put(name: string, body: object): Promise<Answer<Description>> {
    return this.ask("PUT", `/sessions/${name}`, body);
  }

  describe(name: string): Promise<Answer<Description>> {
    return this.ask("GET", `/sessions/${name}`);
  }

  run(body: object): Promise<Answer<RunAnswer>> {
    return this.ask("POST", "/run", body);
  }

  read(name: string, query: Record<string, string | number> = {}): Promise<Answer<ReadAnswer>> {
    const params = new URLSearchParams(
      Object.entries(query).map(([key, value]): [string, string] => [key, String(value)]),
    );
    return this.ask("GET", `/sessions/${name}/output?${params}`);
  }

  wait(name: string, body: object): Promise<Answer<WaitAnswer>> {
    return this.ask("POST", `/sessions/${name}/wait`, body);
  }

  end(name: string): Promise<Answer> {
    return this.ask("DELETE", `/sessions/${name}`);
  }
}
