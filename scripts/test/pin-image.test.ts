// Pinning the base image, against a registry on this machine that wants a token as Docker Hub does.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ROOT } from "../../packages/local/src/base/paths.ts";
import { temporaryDirectory } from "../../packages/local/test/temporary.ts";
import { parseImage } from "../deployment/image-digest.ts";

const REST = "RUN apt-get update\nCOPY dist/stdio-ws /opt/stdio-ws\n";
const IMAGE = "docker.io/cloudflare/sandbox:0.12.10";

let registry: Server;
let url: string;
let file: string;
/** The manifest that the tag means. */
let manifest: string;
/** The digest that the registry claims for it; undefined: the true one. */
let claimed: string | undefined;
let asked: (string | undefined)[];

const digestOfText = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

beforeEach(async () => {
  manifest = '{"schemaVersion":2,"manifests":[]}';
  claimed = undefined;
  asked = [];
  registry = createServer((request, response) => {
    asked.push(request.url);
    const scope = "repository:cloudflare/sandbox:pull";
    if (request.url === `/token?service=fake&scope=${encodeURIComponent(scope)}`) {
      response.end(JSON.stringify({ token: "anonymous" }));
    } else if (request.headers.authorization !== "Bearer anonymous") {
      const challenge = `Bearer realm="${url}/token",service="fake",scope="${scope}"`;
      response.writeHead(401, { "WWW-Authenticate": challenge }).end();
    } else if (request.url === "/v2/cloudflare/sandbox/manifests/0.12.10") {
      const wantsIndex = request.headers.accept?.startsWith("application/vnd.oci.image.index.v1+json");
      const headers = { "Docker-Content-Digest": claimed ?? digestOfText(manifest) };
      response.writeHead(wantsIndex === true ? 200 : 406, headers).end(manifest);
    } else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
  file = join(temporaryDirectory(), "Dockerfile");
  writeFileSync(file, `# Why.\nFROM ${IMAGE}\n${REST}`);
});
afterEach(async () => {
  registry.closeAllConnections();
  await new Promise((resolve) => registry.close(resolve));
});

function pin(...flags: string[]): Promise<{ code: unknown; said: string }> {
  const args = [join(ROOT, "scripts/pin-image.ts"), "--registry", url, "--file", file, ...flags];
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, said: (stdout + stderr).trim() });
    });
  });
}

test("the digest of what the registry sends goes behind the tag, and nothing else changes", async () => {
  const pinned = `${IMAGE}@${digestOfText(manifest)}`;
  expect(await pin()).toEqual({ code: 0, said: `Pinned ${pinned}` });
  expect(readFileSync(file, "utf8")).toBe(`# Why.\nFROM ${pinned}\n${REST}`);
  expect(asked).toHaveLength(3);
  expect(await pin()).toEqual({ code: 0, said: `Pinned already: ${pinned}` });
  expect(await pin("--check")).toEqual({ code: 0, said: `Pinned already: ${pinned}` });
});

test("a tag that came to mean another image fails the check, and is pinned anew when that is asked for", async () => {
  const before = digestOfText(manifest);
  await pin();
  const pinned = readFileSync(file, "utf8");
  manifest += "\n";
  const now = digestOfText(manifest);
  expect(await pin("--check")).toEqual({ code: 1, said: `${IMAGE} is ${now} now; pinned: ${before}` });
  expect(readFileSync(file, "utf8")).toBe(pinned);
  expect(await pin()).toEqual({ code: 0, said: `Pinned ${IMAGE}@${now}, was ${before}` });
});

test("a registry that sends another image than it says, or none, changes nothing", async () => {
  const before = readFileSync(file, "utf8");
  claimed = digestOfText("another");
  const address = `${url}/v2/cloudflare/sandbox/manifests/0.12.10`;
  const said = `Cannot believe ${address}: it says ${claimed} and sent ${digestOfText(manifest)}`;
  expect(await pin()).toEqual({ code: 1, said });
  expect(readFileSync(file, "utf8")).toBe(before);
  writeFileSync(file, `FROM ${IMAGE}.1\n`);
  expect(await pin()).toEqual({ code: 1, said: `Cannot read ${IMAGE}.1: ${address}.1 answered 404` });
});

test("the project's own Dockerfile names an image that can be pinned, of the version of the SDK", () => {
  const [, from = ""] = /^FROM (\S+)$/m.exec(readFileSync(join(ROOT, "sandbox/Dockerfile"), "utf8")) ?? [];
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  expect(parseImage(from)).toMatchObject({
    registryUrl: "https://registry-1.docker.io",
    repository: "cloudflare/sandbox",
    tag: dependencies["@cloudflare/sandbox"],
  });
});

test.each(["", "scratch", "docker.io/cloudflare/sandbox", "docker.io/cloudflare/sandbox:1@sha256:beef"])(
  "%j is refused",
  (text) => expect(() => parseImage(text)).toThrow(/^Cannot read the image/),
);
