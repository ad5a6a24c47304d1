// A preview as a browser has it, without a browser: the way in with a token or a cookie, and requests to its host.
import { type IncomingHttpHeaders, type IncomingMessage, request as openRequest } from "node:http";
import { WebSocket } from "ws";
import { system } from "../system/system.ts";

export type PreviewAnswer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
};

export type PreviewRequest = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
};

/** Asks a host that no resolver need know. @param url Its port is the Worker's. */
export async function askHost(url: string, { method = "GET", headers = {}, body }: PreviewRequest = {}) {
  const answer = await openHost(url, { method, headers, ...(body === undefined ? {} : { body }) });
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  return { status: answer.statusCode ?? 0, headers: answer.headers, text } satisfies PreviewAnswer;
}

/** The same, before the body has come. */
export function openHost(
  url: string,
  { method = "GET", headers = {}, body }: PreviewRequest,
): Promise<IncomingMessage> {
  const { host, port, pathname, search } = new URL(url);
  const options = { host: "127.0.0.1", port, path: pathname + search, method, headers: { Host: host, ...headers } };
  return new Promise((resolve, reject) => {
    openRequest({ ...options, agent: false }, resolve)
      .on("error", reject)
      .end(body);
  });
}

/** Where the login leads to: the preview's entrance, with a ticket. */
export async function ticketTo(
  who: Readonly<Record<string, string>>,
  sandbox: string,
  port: number,
  path = "/",
): Promise<string> {
  const url = `${system.origin}/preview/${sandbox}/${port}${path}`;
  const { status, headers, text } = await askHost(url, { headers: who });
  if (status !== 302) throw new Error(`No way to the preview: ${status} ${text}`);
  return headers.location ?? "";
}

export class Preview {
  readonly origin: string;
  readonly cookie: string;
  /** Where the entrance has led. */
  readonly location: string;

  constructor(origin: string, cookie: string, location: string) {
    this.origin = origin;
    this.cookie = cookie;
    this.location = location;
  }

  static async open(who: Readonly<Record<string, string>>, sandbox: string, port: number, path = "/") {
    const entrance = await ticketTo(who, sandbox, port, path);
    const { status, headers, text } = await askHost(entrance);
    const [set = ""] = headers["set-cookie"] ?? [];
    if (status !== 303) throw new Error(`Not let in: ${status} ${text}`);
    return new Preview(new URL(entrance).origin, set.split(";")[0] ?? "", headers.location ?? "");
  }

  ask(path: string, { headers = {}, ...rest }: PreviewRequest = {}) {
    return askHost(this.origin + path, { ...rest, headers: { Cookie: this.cookie, ...headers } });
  }

  socket(path: string, protocols: string[] = [], headers: Readonly<Record<string, string>> = {}): WebSocket {
    const { host, port } = new URL(this.origin);
    const all = { Host: host, Origin: this.origin, Cookie: this.cookie, ...headers };
    return new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols, { headers: all, perMessageDeflate: false });
  }
}
