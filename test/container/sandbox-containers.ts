// The sandboxes' containers of one system, in the Docker engine that the environment names: those that were not there when it
// started. What tests do to them, as networks and machines do.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { docker } from "../../packages/local/src/base/docker.ts";

/** In the name of each container of our class; each has one more beside it, `…-proxy`, that its ports lead through. */
export const CONTAINER_NAME = "-sbx-stdio-Sandbox-";
const IMAGE = "cloudflare-dev/sandbox*";
/** What docker says of a container that ends just now. */
const IS_GONE = /already in progress|is not running|No such container/;

const run = promisify(execFile);
const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");

/** @returns Undefined where the container is gone. */
async function dockerUnlessGone(...args: string[]): Promise<string | undefined> {
  try {
    return await docker(...args);
  } catch (error) {
    if (IS_GONE.test(String(error))) return undefined;
    throw error;
  }
}

export class SandboxContainers {
  readonly #earlier: ReadonlySet<string>;
  readonly #earlierImages: ReadonlySet<string>;

  private constructor(earlier: readonly string[], earlierImages: readonly string[]) {
    this.#earlier = new Set(earlier);
    this.#earlierImages = new Set(earlierImages);
  }

  /** Containers of the system started next: those that exist now belong to other systems. */
  static async look(): Promise<SandboxContainers> {
    return new SandboxContainers(await names(), await images());
  }

  async #bridges(): Promise<string[]> {
    return (await this.#all()).filter((name) => !name.endsWith("-proxy"));
  }

  async #all(): Promise<string[]> {
    return (await names()).filter((name) => !this.#earlier.has(name));
  }

  async remove(): Promise<void> {
    for (const name of await this.#all()) await dockerUnlessGone("rm", "--force", name);
  }

  /** Also what wrangler called their image. */
  async removeImages(): Promise<void> {
    const tags = (await images()).filter((tag) => !this.#earlierImages.has(tag));
    if (tags.length > 0) await docker("rmi", ...tags);
  }

  async kill(): Promise<void> {
    for (const name of await this.#bridges()) await dockerUnlessGone("kill", name);
  }

  /** What each bridge says of its sessions of this query: bodies of JSON. */
  async sessions(query: string): Promise<string[]> {
    const ask = 'curl -sSf -H "Authorization: Bearer $STDIO_TOKEN" "http://127.0.0.1:8080/sessions?$0"';
    const asked = (await this.#bridges()).map((name) => dockerUnlessGone("exec", name, "sh", "-c", ask, query));
    return (await Promise.all(asked)).filter((body) => body !== undefined && body !== "") as string[];
  }

  /** Breaks every connection from the Worker to a sandbox. Needs root, and `ss` of iproute2. */
  async cutConnections(): Promise<void> {
    const ours = (await publishedPorts()).filter(({ name }) => !this.#earlier.has(name));
    if (ours.length === 0) return;
    const those = ["state", "established", `( ${ours.map(({ port }) => `dport = :${port}`).join(" or ")} )`];
    const open = lines((await run("ss", ["--tcp", "--no-header", ...those])).stdout);
    const cut = lines((await run("ss", ["--kill", "--tcp", "--no-header", ...those])).stdout);
    if (open.length > 0 && cut.length === 0) throw new Error(`Cannot cut ${open.length} connections: are you root?`);
  }
}

/** Names of the sandboxes' containers, and of those beside them. */
async function names(): Promise<string[]> {
  return lines(await docker("ps", "--all", "--filter", `name=${CONTAINER_NAME}`, "--format", "{{.Names}}"));
}

/** All connections to a sandbox lead through a port of the container beside its own. */
async function publishedPorts(): Promise<{ name: string; port: string }[]> {
  const rows = lines(await docker("ps", "--filter", `name=${CONTAINER_NAME}`, "--format", "{{.Names}} {{.Ports}}"));
  return rows.flatMap((row) => {
    const name = row.slice(0, row.indexOf(" "));
    return [...row.matchAll(/127\.0\.0\.1:(\d+)->/g)].map(([, port = ""]) => ({ name, port }));
  });
}

async function images(): Promise<string[]> {
  return lines(await docker("images", IMAGE, "--format", "{{.Repository}}:{{.Tag}}"));
}
