// The cost of a deployment by the platform's published prices. Pure: inputs in, dollars out.

/** In dollars, as published on 2026-11-20, without the plan's own allowance. */
export const PRICES = {
  objectRequest: 0.15 / 1e6,
  /** Of a Durable Object, which always counts as 128 MB. */
  objectHour: 12.5e-6 * 0.128 * 3_600,
  rowWritten: 1 / 1e6,
  memoryGibSecond: 2.5e-6,
  cpuSecond: 20e-6,
  diskGbSecond: 7e-8,
  /** Incoming WebSocket messages are counted so many to a request. */
  messagesPerRequest: 20,
} as const;

/** `basic`: wrangler.toml asks for it. */
export const CONTAINER = { memoryGib: 1, diskGb: 4, vcpu: 0.25 } as const;

/** The counts that `npm run cost -- --measure` makes on this machine. */
export type Inputs = {
  /** Messages of a client to the Worker, and of the Worker to it, for each key that is typed at a shell. */
  readonly sentPerKey: number;
  readonly receivedPerKey: number;
  /** Rows of the audit for each such key. */
  readonly rowsPerKey: number;
  /** Messages of a client that are no pings, for each MiB of output that it reads; and of the Worker to it. */
  readonly sentPerMib: number;
  readonly receivedPerMib: number;
  /** Pings of an idle client in an hour: answered without waking anybody, and free. */
  readonly pingsPerHour: number;
  readonly rowsPerSession: number;
};

/** Of a month. */
export type Use = {
  readonly containerHours: number;
  readonly cpuHours: number;
  /** Hours in which a session has a client attached: its object is awake. */
  readonly attachedHours: number;
  readonly keys: number;
  readonly outputMib: number;
  readonly sessions: number;
  /** Hours of sessions that run without a client, and write nothing. */
  readonly silentHours: number;
};

export type Way = {
  /** Whether the container's object is awake as long as its container runs (the SDK), or only when it is asked. */
  readonly isObjectAlwaysAwake: boolean;
};

export type Cost = Readonly<
  Record<"container" | "cpu" | "sessionObjects" | "containerObjects" | "requests" | "rows", number>
>;

/** A look at a process without a client: at most one in five minutes when it is silent, awake until it is evicted. */
const LOOKS_PER_HOUR = 12;
const AWAKE_SECONDS = 10;
/** The alarm of the container's object: one in each SLEEP_AFTER. */
const ALARMS_PER_HOUR = 6;
/** A look stores when the next one is, and sets the alarm. */
const ROWS_PER_LOOK = 2;

export function costOf(use: Use, inputs: Inputs, way: Way): Cost {
  const { containerHours, silentHours, attachedHours } = use;
  const seconds = containerHours * 3_600;
  const looks = silentHours * LOOKS_PER_HOUR;
  const alarms = way.isObjectAlwaysAwake ? containerHours * 20 : containerHours * ALARMS_PER_HOUR;
  // The bridge's messages count too: they come in on the object's own connection.
  const messages =
    use.keys * (inputs.sentPerKey + inputs.receivedPerKey) +
    use.outputMib * (inputs.sentPerMib + inputs.receivedPerMib);
  const asked = (looks + alarms) * (AWAKE_SECONDS / 3_600);
  const containerObjectHours = way.isObjectAlwaysAwake
    ? containerHours
    : Math.min(containerHours, attachedHours + asked);
  return {
    container: seconds * (CONTAINER.memoryGib * PRICES.memoryGibSecond + CONTAINER.diskGb * PRICES.diskGbSecond),
    cpu: use.cpuHours * 3_600 * PRICES.cpuSecond,
    sessionObjects: (attachedHours + (looks * AWAKE_SECONDS) / 3_600) * PRICES.objectHour,
    containerObjects: containerObjectHours * PRICES.objectHour,
    requests: (messages / PRICES.messagesPerRequest + looks * 2 + alarms + use.sessions * 4) * PRICES.objectRequest,
    rows:
      (use.keys * inputs.rowsPerKey + looks * ROWS_PER_LOOK + alarms + use.sessions * inputs.rowsPerSession) *
      PRICES.rowWritten,
  };
}

export const totalOf = (cost: Cost): number => Object.values(cost).reduce((sum, one) => sum + one, 0);

const DAYS = 22;
const MONTH_HOURS = 720;

export const USES: Readonly<Record<string, Use>> = {
  "a tab that is open for 8 hours a day and never touched": {
    ...{ containerHours: 8 * DAYS, cpuHours: 0, attachedHours: 8 * DAYS, keys: 0, outputMib: 0, sessions: DAYS },
    silentHours: 0,
  },
  "a working day of 8 hours: 10,000 keys, 20 MiB, an hour of a quarter vCPU": {
    ...{ containerHours: 8 * DAYS, cpuHours: 0.25 * DAYS, attachedHours: 8 * DAYS, keys: 10_000 * DAYS },
    ...{ outputMib: 20 * DAYS, sessions: DAYS, silentHours: 0 },
  },
  "100 sandboxes with a silent session each, all month, nobody there": {
    ...{ containerHours: 100 * MONTH_HOURS, cpuHours: 0, attachedHours: 0, keys: 0, outputMib: 0, sessions: 100 },
    silentHours: 100 * MONTH_HOURS,
  },
  "a class of 30 with a teacher who looks on, 40 hours": {
    ...{ containerHours: 30 * 40, cpuHours: 30 * 4, attachedHours: 30 * 40, keys: 30 * 40 * 1_000 },
    ...{ outputMib: 2 * 30 * 40 * 2, sessions: 30 * 20, silentHours: 0 },
  },
  "an hour of output at 8 MiB a second to one reader": {
    ...{
      containerHours: 1,
      cpuHours: 0.25,
      attachedHours: 1,
      keys: 0,
      outputMib: 8 * 3_600,
      sessions: 1,
      silentHours: 0,
    },
  },
};
