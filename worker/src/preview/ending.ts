// The end of what a pass has opened and is still open: when it ends itself, or what it rests on is revoked.

import { tenantKey } from "../auth/names.ts";
import { log } from "../base/log.ts";
import type { TenantsEnv } from "../limits/limit-calls.ts";
import type { PreviewPass } from "./pass.ts";

/** The tenant's object is asked again after so long: it may have been restarted. */
const ASKED_MS = 30_000;
const RETRY_MS = 1_000;

type TenantStub = ReturnType<TenantsEnv["TENANT"]["getByName"]>;

/**
 * Calls `end` once, at the end of the pass or of what it rests on.
 * @returns How to stop watching.
 */
export function watchPass(env: TenantsEnv, pass: PreviewPass, end: () => void): () => void {
  let isOver = false;
  const watch = async () => {
    const tenant = env.TENANT.getByName(await tenantKey(pass.tenant));
    while (!isOver) {
      const ms = Math.min(ASKED_MS, pass.expiresAtMs - Date.now());
      if (ms <= 0 || (await isRevokedWithin(tenant, pass, ms))) break;
    }
    if (!isOver) end();
  };
  void watch();
  return () => {
    isOver = true;
  };
}

async function isRevokedWithin(tenant: TenantStub, { grant }: PreviewPass, ms: number): Promise<boolean> {
  try {
    return await tenant.untilRevoked(grant, ms);
  } catch (error) {
    log.warn("a tenant could not be asked about a preview:", error);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    return false;
  }
}
