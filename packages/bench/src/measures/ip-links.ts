// What a person and a download get over links of the world: one far away and narrow, and one that loses packets. All of TCP is real.

import { percentile, scaled } from "../base/numbers.ts";
import { rawPattern } from "../base/pattern.ts";
import { bringToLink, FAR, type LinkShape, openIpLink } from "../subjects/ip-link.ts";
import { LINK_PORTS, type Subject } from "../subjects/subjects.ts";
import { readPattern } from "./amounts.ts";
import { echoes, type Result, readyCat } from "./measuring.ts";

type NamedLink = LinkShape & { readonly name: string; readonly keys: number; readonly bytes: number };

const LINKS: readonly NamedLink[] = [
  { name: "1 MB/s and 2 x 50 ms", bytesPerSecond: 1e6, delayMs: 50, loss: 0, keys: 40, bytes: 4_000_000 },
  { name: "1 % loss and 2 x 10 ms", bytesPerSecond: 1e7, delayMs: 10, loss: 0.01, keys: 200, bytes: 10_000_000 },
];

/** Nothing is measured where a link can't be made, which takes root. */
export async function onIpLinks(subject: Subject, share = 1): Promise<Result> {
  let result: Result = {};
  for (const link of LINKS) {
    const opened = await openIpLink(link).catch((error: Error) => console.error(`Left out: ${error.message}`));
    if (opened === undefined) return {};
    try {
      result = { ...result, ...(await onLink(subject, link, share)) };
    } finally {
      await opened.close();
    }
  }
  return result;
}

async function onLink(subject: Subject, { name, keys, bytes }: NamedLink, share: number): Promise<Result> {
  // mosh goes over UDP, and needs nobody to bring its packets to the link.
  const isUdp = subject.name === "mosh";
  const brought = isUdp ? undefined : await bringToLink(subject.url, LINK_PORTS[0] ?? 0);
  const url = brought?.url ?? `mosh://${FAR}`;
  const there: Subject = { ...subject, spec: (command, options) => subject.spec(command, { ...options, url }) };
  try {
    const terminal = await readyCat(there);
    const times = await echoes(terminal, scaled(keys, share, 10));
    terminal.close();
    const echo = {
      [`echo at ${name} p50, ms`]: percentile(times, 0.5),
      [`echo at ${name} p99, ms`]: percentile(times, 0.99),
    };
    if (isUdp) return echo; // It carries a screen, not output.
    const total = scaled(bytes, share, 1_000_000);
    return { ...echo, [`output at ${name}, MB/s`]: total / 1e6 / (await readPattern(there, total, rawPattern(total))) };
  } finally {
    brought?.close();
  }
}
