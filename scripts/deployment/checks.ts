// Checks of a deployment's settings beforehand, told in words, and the secrets that it lacks. It is handed what wrangler.toml, the
// command line and the account say.

import { randomBytes } from "node:crypto";
import { ENTRIES } from "../../packages/local/src/build/container-ways.ts";
import { readAuditSettings } from "../../worker/src/audit/settings.ts";
import { readAuthSettings } from "../../worker/src/auth/settings.ts";
import { parsePreviewHost } from "../../worker/src/preview/settings.ts";
import { AuthFault } from "../../worker/src/refusal/fault.ts";
import { readEgress } from "../../worker/src/sandbox/egress.ts";

/** The secrets of the Worker, and the use of each. */
export const SECRETS: Readonly<Record<string, string>> = {
  SESSION_SECRET: "encrypts the cookies of logins by browser",
  STDIO_TOKEN: "what each container's own secret is made from",
};

/** As the repository's wrangler.toml has it: a client that nobody who deploys has registered. */
const EXAMPLE_CLIENT = "sbx-stdio-web";
const EXAMPLE_AUDIENCE = ["sbx-stdio-web", "sbx-stdio-cli"];
const PUBLIC_ISSUER = "https://id.org.ai";

/** Long enough for every secret that is checked when it is used. */
const ANY_SECRET = "x".repeat(64);

/** A few seconds of 15 minutes are for ending processes that still run. */
const MAX_STOP_SECONDS = 890;

/** `wrangler deploy --var NAME:value` and `--dry-run`, `--containers-rollout=none` among its arguments. */
export function readArguments(args: readonly string[]): {
  vars: Record<string, string>;
  isDryRun: boolean;
  buildsImage: boolean;
} {
  const vars: Record<string, string> = {};
  for (const [index, arg] of args.entries()) {
    const given = arg.startsWith("--var=") ? arg.slice("--var=".length) : args[index - 1] === "--var" ? arg : undefined;
    const [name, ...value] = (given ?? "").split(":");
    if (name) vars[name] = value.join(":");
  }
  const rollout = args.indexOf("--containers-rollout");
  const isWithoutRollout = args.includes("--containers-rollout=none") || (rollout >= 0 && args[rollout + 1] === "none");
  return { vars, isDryRun: args.includes("--dry-run"), buildsImage: !isWithoutRollout };
}

/** The faults in the variables of a deployment, a sentence each. */
export function settingProblems(vars: Readonly<Record<string, unknown>>): string[] {
  const problems: string[] = [];
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(vars)) {
    if (typeof value === "string") texts[name] = value;
    else problems.push(`${name} must be a text in wrangler.toml`);
  }
  try {
    const settings = readAuthSettings({ ...texts, SESSION_SECRET: ANY_SECRET });
    const { publicOrigin, issuer } = settings;
    if (texts.PREVIEW_HOST) parsePreviewHost(texts.PREVIEW_HOST, settings);
    const { protocol } = new URL(publicOrigin);
    if (isExample(publicOrigin)) {
      problems.push(
        `PUBLIC_ORIGIN is still the example, ${publicOrigin}: set it to where people will reach this Worker`,
      );
    } else if (protocol !== "https:") problems.push(`PUBLIC_ORIGIN must be https://…, not ${publicOrigin}`);
    readAuditSettings(texts);
    readEgress(texts);
    if (!issuer.startsWith("https://")) problems.push(`OAUTH_ISSUER must be https://…, not ${issuer}`);
    problems.push(...clientProblems(texts, publicOrigin));
  } catch (error) {
    if (!(error instanceof AuthFault)) throw error;
    problems.push(error.message);
  }
  if (texts.BRIDGE_URL) problems.push("BRIDGE_URL must be empty: a deployment's bridges are in its containers");
  const sleepAfter = texts.SLEEP_AFTER ?? "";
  if (sleepAfter !== "" && !/^\d+[smh]?$/.test(sleepAfter)) {
    problems.push(`SLEEP_AFTER must be seconds, or a number with s, m or h, not "${sleepAfter}"`);
  }
  const stopSeconds = Number(texts.STOP_SECONDS ?? "");
  if (!(stopSeconds >= 0 && stopSeconds <= MAX_STOP_SECONDS)) {
    const why = "the platform ends a container 15 minutes after its SIGTERM";
    problems.push(`STOP_SECONDS must be a number from 0 to ${MAX_STOP_SECONDS}, not "${texts.STOP_SECONDS}": ${why}`);
  }
  return problems;
}

const isExample = (origin: string): boolean => new URL(origin).hostname.endsWith(".example.workers.dev");

/** At an issuer where anybody registers clients, names that nobody has registered may become a stranger's. */
function clientProblems(
  { OAUTH_ISSUER = "", OAUTH_CLIENT_ID = "", OAUTH_AUDIENCE = "" }: Readonly<Record<string, string>>,
  publicOrigin: string,
): string[] {
  if (OAUTH_ISSUER !== PUBLIC_ISSUER) return [];
  const examples = OAUTH_AUDIENCE.split(",")
    .map((name) => name.trim())
    .filter((name) => EXAMPLE_AUDIENCE.includes(name));
  if (OAUTH_CLIENT_ID === EXAMPLE_CLIENT) {
    // A client that is registered with the example's address could never be used.
    if (isExample(publicOrigin))
      return [
        `OAUTH_CLIENT_ID is still the example, ${EXAMPLE_CLIENT}: set PUBLIC_ORIGIN, then this says how to register`,
      ];
    const client = {
      ...{ client_name: "sbx-stdio", redirect_uris: [`${publicOrigin}/callback`], grant_types: ["authorization_code"] },
      ...{ response_types: ["code"], token_endpoint_auth_method: "none" },
    };
    const how = `curl ${PUBLIC_ISSUER}/oauth/register -H 'Content-Type: application/json' -d '${JSON.stringify(client)}'`;
    return [
      `OAUTH_CLIENT_ID is still the example, ${EXAMPLE_CLIENT}: register a client, and put the client_id of the answer there and into OAUTH_AUDIENCE: ${how}`,
    ];
  }
  if (examples.length === 0) return [];
  return [`OAUTH_AUDIENCE still lists ${examples.join(" and ")}, the examples: whoever registers these gets in`];
}

/** Of wrangler.toml: where the Worker begins, and the container of its sandboxes. */
export type ContainerSettings = {
  readonly main?: string | undefined;
  readonly containers?: readonly { readonly scheduling_policy?: string; readonly max_instances?: number }[] | undefined;
};

const SIZES = ["lite", "standard-1", "standard-2", "standard-3", "standard-4"];

/** The contradictions between the container, the entry file and the variables. */
export function containerProblems(
  { main = "", containers = [] }: ContainerSettings,
  vars: Readonly<Record<string, unknown>>,
): string[] {
  const problems: string[] = [];
  const [container] = containers;
  if (container === undefined) return ["wrangler.toml has no [[containers]]: sandboxes need one"];
  const { scheduling_policy: policy, max_instances: most } = container;
  if (policy === "durable_object") {
    if (!main.endsWith(ENTRIES.durable_object)) {
      problems.push(`Under scheduling_policy "durable_object", main must be ${ENTRIES.durable_object}, not ${main}`);
    }
    const size = vars.CONTAINER_SIZE;
    if (size !== undefined && size !== "" && !SIZES.includes(String(size))) {
      problems.push(`CONTAINER_SIZE must be one of ${SIZES.join(", ")}, not "${String(size)}"`);
    }
  } else if (most !== undefined && most < Number(vars.LIMIT_SANDBOXES)) {
    problems.push(
      `max_instances is ${most}, and one tenant alone may have ${String(vars.LIMIT_SANDBOXES)} sandboxes (LIMIT_SANDBOXES)`,
    );
  }
  return problems;
}

/** Values for the secrets that are missing. @param present The names of those that are set, as the account tells them. */
export function newSecrets(present: readonly string[]): Record<string, string> {
  const missing = Object.keys(SECRETS).filter((name) => !present.includes(name));
  return Object.fromEntries(missing.map((name) => [name, randomBytes(48).toString("base64")]));
}
