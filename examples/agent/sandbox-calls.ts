// The programs' interface of one sandbox, by plain fetch: as much of it as an agent needs.

export type Exit = { readonly code: number; readonly signal?: string };
export type RunResult = {
  readonly session: string;
  readonly state: string;
  readonly exit?: Exit;
  readonly output: string;
};
export type WaitResult = {
  readonly outcome: "met" | "timeout" | "exited" | "lost";
  readonly output: string;
  readonly offset: number;
  readonly match?: { readonly text: string; readonly groups: readonly (string | null)[] };
};
export type Written = { readonly to: number; readonly outputOffset: number };

/** A refusal: its status, its code, and who has the keyboard where that is the reason. */
export class CallRefused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, body: { readonly error?: string; readonly message?: string }) {
    super(`${status} ${body.error}: ${body.message}`);
    this.status = status;
    this.code = body.error ?? "";
  }
}

export class SandboxCalls {
  readonly #base: string;
  readonly #token: string;

  constructor(origin: string, sandbox: string, token: string) {
    this.#base = `${origin}/api/sandboxes/${sandbox}`;
    this.#token = token;
  }

  start(session: string, process: object): Promise<{ readonly state: string }> {
    return this.#call("PUT", `/sessions/${session}`, process);
  }

  run(process: object): Promise<RunResult> {
    return this.#call("POST", "/run", process);
  }

  /** Types a line. @param at Where it begins in all that this writer has typed: the same call again types nothing twice. */
  type(session: string, line: string, at: number): Promise<Written> {
    return this.#call("POST", `/sessions/${session}/input`, { text: line, enter: true, at });
  }

  wait(session: string, body: object): Promise<WaitResult> {
    return this.#call("POST", `/sessions/${session}/wait`, body);
  }

  keyboard(session: string, wish: "request" | "release"): Promise<{ readonly mine: boolean }> {
    return this.#call("POST", `/sessions/${session}/keyboard`, { do: wish });
  }

  end(session: string): Promise<unknown> {
    return this.#call("DELETE", `/sessions/${session}`);
  }

  /** Repeats a call that may be repeated: nothing is done twice, and 503 and 429 say when to come back. */
  async #call<T>(method: string, path: string, body?: object): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(`${this.#base}${path}`, {
        method,
        headers: { Authorization: `Bearer ${this.#token}`, "Content-Type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const answer = (text.trim() === "" ? {} : JSON.parse(text)) as { readonly error?: string };
      if (response.ok && answer.error === undefined) return answer as T;
      const isPassing = response.status === 429 || response.status === 503;
      if (!isPassing || attempt === 5) throw new CallRefused(response.status, answer);
      const seconds = Number(response.headers.get("Retry-After") ?? 1);
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  }
}
