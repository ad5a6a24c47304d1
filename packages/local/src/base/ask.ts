// One HTTP request, also over a Unix socket, which no other user of the machine can listen at in the place of ours.
import { request } from "node:http";
import { text } from "node:stream/consumers";

export type Wish = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  /** Absent: the URL's own address. */
  readonly socketPath?: string | undefined;
};

/** @throws {Error} If no whole answer comes. */
export function ask(
  url: string,
  { body, ...options }: Wish,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent: false, ...options }, (answer) => {
      text(answer).then((text) => resolve({ status: answer.statusCode ?? 0, text }), reject);
    });
    asked.once("error", reject).end(body);
  });
}
