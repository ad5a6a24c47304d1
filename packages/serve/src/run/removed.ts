// What people still have by rights that were removed: connections, links that they made, tickets. The Worker ends it, at once or at the
// next start.
import { join } from "node:path";
import { type Person, tokenMinter } from "../../../local/src/issuer/tokens.ts";
import { ServeError } from "../base/refusal.ts";
import { readJson, type ServerFacts, type State, writeJson } from "../base/state.ts";
import { owner, ROLES } from "../logins/accounts.ts";
import { askApi } from "./program.ts";

type Removed = Pick<Person, "sub" | "org">;

const fileOf = ({ dir }: State): string => join(dir, "removed.json");
const peopleIn = (state: State): readonly Removed[] => readJson<Removed[]>(fileOf(state)) ?? [];

export const noteRemoved = (state: State, { sub, org }: Person): void =>
  writeJson(fileOf(state), [...peopleIn(state), { sub, org }]);

/** @throws {ServeError} */
export async function endRemoved(state: State, { secretsDir, origin }: ServerFacts): Promise<void> {
  const mint = await tokenMinter({ keysDir: secretsDir, issuerUrl: origin });
  for (const { sub, org } of peopleIn(state)) {
    const token = () => mint({ ...owner(), org, scope: ROLES.admin.join(" ") });
    const api = { socketPath: state.innerSocket, token };
    // The issuer tells new logins from old ones, so the name itself stays usable.
    const { status } = await askApi(api, "POST", "revocations", { sub, mayReturn: true });
    if (status >= 300) throw new ServeError(`What ${sub} has could not be ended (${status}): start the server again`);
  }
  writeJson(fileOf(state), []);
}
