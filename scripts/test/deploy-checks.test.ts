import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import { temporaryDirectory } from "../../packages/local/test/temporary.ts";
import { containerProblems, newSecrets, readArguments, settingProblems } from "../deployment/checks.ts";
import { takeSettings } from "../deployment/wrangler.ts";

const GOOD = {
  PUBLIC_ORIGIN: "https://sbx.test",
  OAUTH_ISSUER: "https://id.org.ai",
  OAUTH_AUDIENCE: "web,cli",
  OAUTH_CLIENT_ID: "web",
  BRIDGE_URL: "",
  SLEEP_AFTER: "10m",
};

test("complete settings have no problem, with another issuer's clients of any name either", () => {
  expect(settingProblems(GOOD)).toEqual([]);
  const others = {
    OAUTH_ISSUER: "https://login.test",
    OAUTH_AUDIENCE: "sbx-stdio-web",
    OAUTH_CLIENT_ID: "sbx-stdio-web",
  };
  expect(settingProblems({ ...GOOD, ...others })).toEqual([]);
});

test("no client is to be registered with the example's address", () => {
  const example = { PUBLIC_ORIGIN: "https://sbx-stdio.example.workers.dev" };
  const client = { OAUTH_CLIENT_ID: "sbx-stdio-web", OAUTH_AUDIENCE: "sbx-stdio-web" };
  expect(settingProblems({ ...GOOD, ...example, ...client })).toEqual([
    `PUBLIC_ORIGIN is still the example, ${example.PUBLIC_ORIGIN}: set it to where people will reach this Worker`,
    "OAUTH_CLIENT_ID is still the example, sbx-stdio-web: set PUBLIC_ORIGIN, then this says how to register",
  ]);
});

test.each([
  [{ PUBLIC_ORIGIN: "" }, /PUBLIC_ORIGIN is missing/],
  [{ PUBLIC_ORIGIN: "http://localhost:8787" }, /PUBLIC_ORIGIN must be https/],
  [{ OAUTH_AUDIENCE: "" }, /OAUTH_AUDIENCE must list/],
  [{ OAUTH_CLIENT_ID: "other" }, /OAUTH_CLIENT_ID must be in OAUTH_AUDIENCE/],
  [
    { OAUTH_CLIENT_ID: "sbx-stdio-web", OAUTH_AUDIENCE: "sbx-stdio-web" },
    /^OAUTH_CLIENT_ID is still the example, .* curl https:\/\/id\.org\.ai\/oauth\/register .*"redirect_uris":\["https:\/\/sbx\.test\/callback"\]/,
  ],
  [{ OAUTH_AUDIENCE: "web, sbx-stdio-cli" }, /^OAUTH_AUDIENCE still lists sbx-stdio-cli/],
  [{ BRIDGE_URL: "http://127.0.0.1:8080" }, /BRIDGE_URL must be empty/],
  [{ SLEEP_AFTER: "soon" }, /SLEEP_AFTER must be seconds, or a number with s, m or h, not "soon"/],
  [{ STOP_SECONDS: "900" }, /STOP_SECONDS must be a number from 0 to 890, not "900"/],
  [{ SLEEP_AFTER: 600 }, /SLEEP_AFTER must be a text/],
])("with %j the problem is told", (change, problem) => {
  const problems = settingProblems({ ...GOOD, ...change });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(problem);
});

test("the settings in the repository lack nothing but the place where people reach the Worker, and a client", () => {
  // The part of TOML that [vars] uses here: a name and a text in quotes.
  const toml = readFileSync(join(ROOT, "wrangler.toml"), "utf8");
  const vars = Object.fromEntries([...toml.matchAll(/^([A-Z_]+) = "(.*)"$/gm)].map(([, name, value]) => [name, value]));
  expect(settingProblems(vars)).toEqual([
    expect.stringMatching(/^PUBLIC_ORIGIN is still the example/),
    expect.stringMatching(/^OAUTH_CLIENT_ID is still the example/),
  ]);
});

const NATIVE = "/there/worker/src/index-native.ts";
const BY_OBJECT = { scheduling_policy: "durable_object" };

test.each([
  [{ main: "/there/worker/src/index.ts", containers: [{ max_instances: 10 }] }, { LIMIT_SANDBOXES: "10" }],
  [{ main: NATIVE, containers: [{ max_instances: 10 }] }, {}],
  [
    { main: NATIVE, containers: [BY_OBJECT] },
    { LIMIT_SANDBOXES: "10", CONTAINER_SIZE: "lite" },
  ],
])("the container's settings %j with %j have no problem", (config, vars) => {
  expect(containerProblems(config, vars)).toEqual([]);
});

test.each([
  [{ main: NATIVE }, {}, /has no \[\[containers\]\]/],
  [
    { main: NATIVE, containers: [{ max_instances: 5 }] },
    { LIMIT_SANDBOXES: "10" },
    /max_instances is 5, .* 10 sandboxes/,
  ],
  [{ main: "/there/worker/src/index.ts", containers: [BY_OBJECT] }, {}, /main must be worker\/src\/index-native\.ts/],
  [
    { main: NATIVE, containers: [BY_OBJECT] },
    { CONTAINER_SIZE: "basic" },
    /CONTAINER_SIZE must be one of lite, .*, not "basic"/,
  ],
])("with the container's settings %j and %j the problem is told", (config, vars, problem) => {
  expect(containerProblems(config, vars)).toEqual([expect.stringMatching(problem)]);
});

test("a secret that is not set is made, long and new; one that is set is left alone", () => {
  expect(newSecrets(["SESSION_SECRET", "STDIO_TOKEN", "OTHER"])).toEqual({});
  expect(Object.keys(newSecrets(["SESSION_SECRET"]))).toEqual(["STDIO_TOKEN"]);
  const made = [newSecrets([]), newSecrets([])].flatMap((secrets) => Object.values(secrets));
  expect(new Set(made).size).toBe(4);
  for (const secret of made) expect(secret).toMatch(/^[A-Za-z0-9+/]{64}$/);
});

test("the command line's variables, dry run and containers are known, and everything else is wrangler's", () => {
  expect(readArguments([])).toEqual({ vars: {}, isDryRun: false, buildsImage: true });
  const args = ["--var", "A:b:c", "--keep-vars", "--var=D:", "--dry-run", "--containers-rollout", "none"];
  expect(readArguments(args)).toEqual({ vars: { A: "b:c", D: "" }, isDryRun: true, buildsImage: false });
  expect(readArguments(["--containers-rollout=none"]).buildsImage).toBe(false);
  expect(readArguments(["--containers-rollout=immediate"]).buildsImage).toBe(true);
});

test("a file of settings becomes variables, and its secrets stay apart", () => {
  const file = join(temporaryDirectory(), "settings");
  writeFileSync(file, "# of both\nAUDIT=lengths\nRECORDING_REDACT='a=b\nc'\nMETRICS_TOKEN=sixteen-letters!!\n");
  expect(takeSettings(["--dry-run", "--settings", file, "--name", "mine"])).toEqual({
    args: ["--dry-run", "--name", "mine", "--var", "AUDIT:lengths", "--var", "RECORDING_REDACT:a=b\nc"],
    secrets: { METRICS_TOKEN: "sixteen-letters!!" },
  });
  expect(() => takeSettings(["--settings", `${file}.none`])).toThrow("--settings names a file");
  expect(takeSettings(["--dry-run"])).toEqual({ args: ["--dry-run"], secrets: {} });
});
