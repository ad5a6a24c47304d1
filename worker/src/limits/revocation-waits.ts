// The Worker's long connections, which wait for revocations of their grants. Sessions are notified in other ways.

import { concerns, type RevocableGrant, type Revocation } from "./revocation.ts";

type Waiting = { readonly grant: RevocableGrant; readonly end: (isRevoked: boolean) => void };

export class RevocationWaits {
  readonly #waiting = new Set<Waiting>();

  /** Resolves with true once the grant is revoked, with false after `ms`. */
  wait(grant: RevocableGrant, ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const waiting = {
        grant,
        end: (isRevoked: boolean) => {
          clearTimeout(timer);
          this.#waiting.delete(waiting);
          resolve(isRevoked);
        },
      };
      const timer = setTimeout(() => waiting.end(false), ms);
      this.#waiting.add(waiting);
    });
  }

  tell(revocation: Revocation): void {
    for (const { grant, end } of [...this.#waiting]) if (concerns(revocation, grant, revocation.atMs)) end(true);
  }
}
