// Counts as Prometheus reads them: the text format, version 0.0.4. Pure.

import { type Counter, type Counts, HISTOGRAMS, type Histogram } from "./counts.ts";

export type Levels = { readonly sessions: number; readonly clients: number };

export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

const PREFIX = "sbx_stdio_";

const COUNTERS: readonly (readonly [Counter, name: string, help: string])[] = [
  ["session.started", "sessions_started_total", "Processes that were started."],
  ["session.exited", "sessions_exited_total", "Processes that have ended, and whose exit is stored."],
  ["session.lost", "sessions_lost_total", "Processes whose container or bridge went without an exit."],
  ["attaches", "attaches_total", "Clients that were attached, resumes among them."],
  ["resumes", "resumes_total", "Clients that came back as themselves."],
  ["received_bytes", "received_bytes_total", "Bytes of clients' messages, on WebSockets."],
  ["sent_bytes", "sent_bytes_total", "Bytes of messages to clients, on WebSockets."],
  ["gaps", "gaps_total", "Gaps that clients were told of."],
  ["gap_bytes", "gap_bytes_total", "Output that clients did not get, in these gaps."],
  ["container.started", "cold_starts_total", "Containers that were started, and whose bridge answered."],
  ["container.failed", "container_failures_total", "Starts of containers that failed."],
  ["container.slept", "container_sleeps_total", "Containers that were told to stop, since no session was left."],
  ["container.hung", "container_hangs_total", "Containers that were ended, since their bridge did not answer."],
];

const HELP: Readonly<Record<Histogram, string>> = {
  ack: "From sending output to its acknowledgement, less the delay that a client may take.",
  cold_start: "From a container's start until its bridge answered.",
};

const REFUSED = /^refused (\d{4})$/;

export function renderMetrics(counts: Counts, { sessions, clients }: Levels): string {
  return [
    ...metric("sessions", "gauge", "Sessions whose process runs, as they last said.", [["", sessions]]),
    ...metric("clients", "gauge", "Clients that are attached, as their sessions last said.", [["", clients]]),
    ...COUNTERS.flatMap(([counter, name, help]) => metric(name, "counter", help, [["", counts.of(counter)]])),
    ...metric("refusals_total", "counter", "Requests and connections that were refused, by code.", refusals(counts)),
    ...histogram("ack", counts),
    ...histogram("cold_start", counts),
    "",
  ].join("\n");
}

type Sample = readonly [labels: string, value: number];

function metric(name: string, type: string, help: string, samples: readonly Sample[]): string[] {
  const lines = samples.map(([labels, value]) => `${PREFIX}${name}${labels} ${value}`);
  return [`# HELP ${PREFIX}${name} ${help}`, `# TYPE ${PREFIX}${name} ${type}`, ...lines];
}

function refusals(counts: Counts): Sample[] {
  const codes = [...counts.series].flatMap((series) => REFUSED.exec(series)?.[1] ?? []);
  return codes.sort().map((code) => [`{code="${code}"}`, counts.of(`refused ${code}`)]);
}

function histogram(of: Histogram, counts: Counts): string[] {
  const name = `${PREFIX}${of}_seconds`;
  let sum = 0;
  const buckets = HISTOGRAMS[of].map((bound) => {
    sum += counts.of(`${of} le ${bound}`);
    return `${name}_bucket{le="${bound / 1000}"} ${sum}`;
  });
  const count = counts.of(`${of} count`);
  return [
    `# HELP ${name} ${HELP[of]}`,
    `# TYPE ${name} histogram`,
    ...buckets,
    `${name}_bucket{le="+Inf"} ${count}`,
    `${name}_sum ${counts.of(`${of} ms`) / 1000}`,
    `${name}_count ${count}`,
  ];
}
