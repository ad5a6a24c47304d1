// An editor's side of the Language Server Protocol, over the pipes of a child process.
import type { ChildProcessByStdio } from "node:child_process";
import type { Readable, Writable } from "node:stream";

type Message = { id?: number; method?: string; result?: unknown };
type Child = Pick<ChildProcessByStdio<Writable, Readable, null>, "stdin" | "stdout">;

/** What was shown at the lines asked for, as JSON; and how many symbols the document has. */
export type Edited = { readonly hovers: readonly string[]; readonly symbols: number };

/** Opens a document, asks about these lines of it, and tells the server to end. */
export async function edit(child: Child, uri: string, text: string, lines: readonly number[]): Promise<Edited> {
  const say = (message: object) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  const waiting = new Map<number, (answer: unknown) => void>();
  hear(child.stdout, ({ id, method, result }) => {
    if (id === undefined) return;
    // What the server asks of an editor is answered with nothing.
    if (method !== undefined) say({ id, result: null });
    else waiting.get(id)?.(result);
  });
  let lastId = 0;
  const ask = (method: string, params?: object) => {
    lastId += 1;
    const id = lastId;
    say({ id, method, ...(params === undefined ? {} : { params }) });
    return new Promise<unknown>((resolve) => waiting.set(id, resolve));
  };
  await ask("initialize", { processId: null, rootUri: null, capabilities: {} });
  say({ method: "initialized", params: {} });
  const textDocument = { uri, languageId: "typescript", version: 1, text };
  say({ method: "textDocument/didOpen", params: { textDocument } });
  const hovers: string[] = [];
  for (const line of lines) {
    const hover = await ask("textDocument/hover", { textDocument: { uri }, position: { line, character: 14 } });
    hovers.push(JSON.stringify(hover));
  }
  const symbols = (await ask("textDocument/documentSymbol", { textDocument: { uri } })) as unknown[];
  await ask("shutdown");
  say({ method: "exit" });
  return { hovers, symbols: symbols.length };
}

function hear(stream: Readable, heard: (message: Message) => void): void {
  let waiting = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk]);
    for (;;) {
      const end = waiting.indexOf("\r\n\r\n");
      const length = Number(/Content-Length: (\d+)/.exec(waiting.subarray(0, Math.max(0, end)).toString())?.[1]);
      if (end < 0 || waiting.length < end + 4 + length) return;
      const message = JSON.parse(waiting.subarray(end + 4, end + 4 + length).toString()) as Message;
      waiting = waiting.subarray(end + 4 + length);
      heard(message);
    }
  });
}
