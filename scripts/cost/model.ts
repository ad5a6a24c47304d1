// The cost of a deployment by the platform's published prices. Pure: inputs in, dollars out.

/** In dollars, as published on 2026-11-20, without the plan's own allowance. */
const PRICES = {
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
  /** Rows for each time that a session is parked and comes back. */
  readonly rowsPerPark: number;
  /** A session is parked so long after PARK_SECONDS of quiet. */
  readonly secondsToPark: number;
};

/** Of a month. */
export type Use = {
  readonly containerHours: number;
  readonly cpuHours: number;
  /** Hours in which a session has a client attached. */
  readonly attachedHours: number;
  /** Of these, hours without a quiet minute. */
  readonly busyHours: number;
  /** How often it gets quiet after that, and is parked. */
  readonly pauses: number;
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
/** As wrangler.toml has it. */
const PARK_SECONDS = 60;
/** A session that is called comes by a request, and opens a way to its bridge by another. */
const REQUESTS_PER_PARK = 2;
/** Hours in which a session's object is awake with clients attached, and with it the way to its container. */
export function awakeHours({ attachedHours, busyHours, pauses }: Use, { secondsToPark }: Inputs): number {
  const perPause = PARK_SECONDS + secondsToPark + AWAKE_SECONDS;
  return Math.min(attachedHours, busyHours + (pauses * perPause) / 3_600);
}

/** The alarm of the container's object: one in each SLEEP_AFTER. */
const ALARMS_PER_HOUR = 6;
/** A look stores when the next one is, and sets the alarm. */
const ROWS_PER_LOOK = 2;

export function costOf(use: Use, inputs: Inputs, way: Way): Cost {
  const { containerHours, silentHours, pauses } = use;
  const openHours = awakeHours(use, inputs);
  const seconds = containerHours * 3_600;
  const looks = silentHours * LOOKS_PER_HOUR;
  const alarms = way.isObjectAlwaysAwake ? containerHours * 20 : containerHours * ALARMS_PER_HOUR;
  // The bridge's messages count too: they come in on the object's own connection.
  const messages =
    use.keys * (inputs.sentPerKey + inputs.receivedPerKey) +
    use.outputMib * (inputs.sentPerMib + inputs.receivedPerMib);
  const asked = (looks + alarms) * (AWAKE_SECONDS / 3_600);
  const containerObjectHours = way.isObjectAlwaysAwake ? containerHours : Math.min(containerHours, openHours + asked);
  return {
    container: seconds * (CONTAINER.memoryGib * PRICES.memoryGibSecond + CONTAINER.diskGb * PRICES.diskGbSecond),
    cpu: use.cpuHours * 3_600 * PRICES.cpuSecond,
    sessionObjects: (openHours + (looks * AWAKE_SECONDS) / 3_600) * PRICES.objectHour,
    containerObjects: containerObjectHours * PRICES.objectHour,
    requests:
      (messages / PRICES.messagesPerRequest + looks * 2 + alarms + use.sessions * 5 + pauses * REQUESTS_PER_PARK) *
      PRICES.objectRequest,
    rows:
      (use.keys * inputs.rowsPerKey +
        looks * ROWS_PER_LOOK +
        alarms +
        use.sessions * inputs.rowsPerSession +
        pauses * inputs.rowsPerPark) *
      PRICES.rowWritten,
  };
}

export const totalOf = (cost: Cost): number => Object.values(cost).reduce((sum, one) => sum + one, 0);

const DAYS = 22;
const MONTH_HOURS = 720;
/** A page whose token lasts an hour shows a new one as often, and wakes the session for it. */
const TOKENS_PER_DAY = 8;
/** Of a person who works for a day: times in which nothing is typed or written for more than a minute. */
const PAUSES_PER_DAY = 40;

const NOTHING: Use = {
  ...{ containerHours: 0, cpuHours: 0, attachedHours: 0, busyHours: 0, pauses: 0, keys: 0, outputMib: 0, sessions: 0 },
  silentHours: 0,
};

export const USES: Readonly<Record<string, Use>> = {
  "a tab that is open for 8 hours a day and never touched": {
    ...NOTHING,
    ...{ containerHours: 8 * DAYS, attachedHours: 8 * DAYS, pauses: TOKENS_PER_DAY * DAYS, sessions: DAYS },
  },
  "a working day of 8 hours, half of it busy: 10,000 keys, 20 MiB, an hour of a quarter vCPU": {
    ...NOTHING,
    ...{ containerHours: 8 * DAYS, cpuHours: 0.25 * DAYS, attachedHours: 8 * DAYS, busyHours: 4 * DAYS },
    ...{ pauses: PAUSES_PER_DAY * DAYS, keys: 10_000 * DAYS, outputMib: 20 * DAYS, sessions: DAYS },
  },
  "100 sandboxes with a silent session each, all month, nobody there": {
    ...NOTHING,
    ...{ containerHours: 100 * MONTH_HOURS, sessions: 100, silentHours: 100 * MONTH_HOURS },
  },
  "a class of 30 with a teacher who looks on, 40 hours without a pause": {
    ...NOTHING,
    ...{ containerHours: 30 * 40, cpuHours: 30 * 4, attachedHours: 30 * 40, busyHours: 30 * 40 },
    ...{ keys: 30 * 40 * 1_000, outputMib: 2 * 30 * 40 * 2, sessions: 30 * 20 },
  },
  "an hour of output at 8 MiB a second to one reader": {
    ...NOTHING,
    ...{ containerHours: 1, cpuHours: 0.25, attachedHours: 1, busyHours: 1, outputMib: 8 * 3_600, sessions: 1 },
  },
};
