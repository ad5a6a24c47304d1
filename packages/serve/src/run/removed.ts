// What people still have by rights that were removed: connections, links that they made, tickets. The Worker ends it, at once or at the
// next start.
import { join } from "node:path";
import { type Person, tokenMinter } from "../../../local/src/issuer/tokens.ts";
import { ServeError } from "../base/refusal.ts";
import { readJson, type ServerFacts, type State, writeJson } from "../base/state.ts";
import { owner, ROLES } from "../logins/accounts.ts";
import { askApi } from "./program.ts";

/** `mayReturn`: by a new login, with fewer rights. */
type Removed = Pick<Person, "sub" | "org"> & { readonly mayReturn?: boolean };

const fileOf = ({ dir }: State): string => join(dir, "removed.json");
const peopleIn = (state: State): readonly Removed[] => readJson<Removed[]>(fileOf(state)) ?? [];

export const noteRemoved = (state: State, { sub, org }: Person, mayReturn: boolean): void =>
  writeJson(fileOf(state), [...peopleIn(state), { sub, org, mayReturn }]);

/** @throws {ServeError} */
export async function endRemoved(state: State, { secretsDir, origin }: ServerFacts): Promise<void> {
  const mint = await tokenMinter({ keysDir: secretsDir, issuerUrl: origin });
  for (const { sub, org, mayReturn } of peopleIn(state)) {
    const token = () => mint({ ...owner(), org, scope: ROLES.admin.join(" ") });
    const api = { socketPath: state.innerSocket, token };
    const { status } = await askApi(api, "POST", "revocations", { sub, mayReturn });
    if (status >= 300) throw new ServeError(`What ${sub} has could not be ended (${status}): start the server again`);
  }
  writeJson(fileOf(state), []);
}
