// Our own client as a program: `URL -- COMMAND ARGS`, with the token in SBX_TOKEN. Its stdin, stdout, stderr and exit code are the
// process's. What any program does that uses `connect` of sandbox-stdio/client.

import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { connect } from "sandbox-stdio/client";

const [address = "", , cmd, ...args] = process.argv.slice(2);
const url = new URL(address);
const { sandbox = "default", session } = Object.fromEntries(url.searchParams);
url.search = "";
url.pathname = url.pathname.replace(/\/attach$/, "/");

const job = connect(url, {
  token: process.env.SBX_TOKEN ?? "",
  sandbox,
  ...(session === undefined ? {} : { session }),
  ...(cmd === undefined ? {} : { cmd, args }),
  onGap: (from, to) => process.stderr.isTTY && console.error(`output from ${from} to ${to} is gone`),
});
const input = pipeline(process.stdin, Writable.fromWeb(job.stdin));
input.catch(() => undefined); // The process has ended, or takes no more.
const outputs = [
  pipeline(Readable.fromWeb(job.stdout as never), process.stdout, { end: false }),
  pipeline(Readable.fromWeb(job.stderr as never), process.stderr, { end: false }),
];
try {
  const { code } = await job.exited;
  await Promise.all(outputs);
  process.exit(code);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(255);
}
