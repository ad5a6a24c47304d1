// The sandboxes whose folder is /workspace for their processes: in a container that is so anyway; on a machine with many sandboxes those
// that the sandbox API has made have a mount namespace each, also after a restart of the bridge.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Namespace, WORKSPACE } from "../base/namespace.ts";
import type { BridgeSettings } from "../base/settings.ts";

export class Workspaces {
  readonly #settings: Pick<BridgeSettings, "sandboxRoot" | "workspace">;
  readonly #made = new Map<string, Namespace>();
  readonly #making = new Map<string, Promise<string | undefined>>();

  constructor(settings: Pick<BridgeSettings, "sandboxRoot" | "workspace">) {
    this.#settings = settings;
  }

  /** Absent for a sandbox whose folder has no other name for its processes. */
  of(sandbox: string): Namespace | undefined {
    return this.#made.get(sandbox);
  }

  /** @param folderOf The sandbox's folder. @returns Why its processes can't have it as /workspace, if so. */
  async make(sandbox: string, folderOf: () => string): Promise<string | undefined> {
    const { sandboxRoot, workspace } = this.#settings;
    // The one folder of `serve` is nobody's to share with a new sandbox.
    if (sandboxRoot === undefined)
      return workspace === WORKSPACE && existsSync(workspace) ? undefined : `there is no ${WORKSPACE}`;
    const folder = folderOf();
    const fault = await this.#make(sandboxRoot, sandbox, folder);
    const mark = markOf(sandboxRoot, sandbox);
    if (fault === undefined) mkdirSync(dirname(mark), { recursive: true, mode: 0o700 });
    if (fault === undefined) writeFileSync(mark, folder);
    return fault;
  }

  /** To be awaited before anything is started in a sandbox; absent where nothing has to be made. */
  ready(sandbox: string): Promise<string | undefined> | undefined {
    const { sandboxRoot } = this.#settings;
    if (sandboxRoot === undefined || this.#made.has(sandbox)) return undefined;
    const mark = markOf(sandboxRoot, sandbox);
    return existsSync(mark) ? this.#make(sandboxRoot, sandbox, readFileSync(mark, "utf8")) : undefined;
  }

  drop(sandbox: string): void {
    const { sandboxRoot } = this.#settings;
    if (sandboxRoot !== undefined) rmSync(markOf(sandboxRoot, sandbox), { force: true });
    this.#made.get(sandbox)?.close();
    this.#made.delete(sandbox);
    this.#making.delete(sandbox);
  }

  #make(sandboxRoot: string, sandbox: string, folder: string): Promise<string | undefined> {
    const begun = this.#making.get(sandbox);
    if (begun !== undefined) return begun;
    const making = Namespace.make(join(sandboxRoot, ".root"), folder).then((made) => {
      if (typeof made !== "string") this.#made.set(sandbox, made);
      else this.#making.delete(sandbox);
      return typeof made === "string" ? made : undefined;
    });
    this.#making.set(sandbox, making);
    return making;
  }
}

/** The file that says that a sandbox has one, with its folder in it. A dot begins no sandbox's folder. */
function markOf(sandboxRoot: string, sandbox: string): string {
  return join(sandboxRoot, ".workspaces", sandbox);
}
