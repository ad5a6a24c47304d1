// The audit of a session as those who may read it see it: all pages, checked to be one chain.
import { CHAIN_START, type ChainedRecord, type ChainPoint, verifyChain } from "../../../../worker/src/audit/chain.ts";
import { mint, type Person, system } from "../system/system.ts";

export type AuditRecord = ChainedRecord & { readonly type: string; readonly time: string };

/** A long search takes more than the hour of other tokens. */
const EXPIRES_SECONDS = 86_400;

/** The same person, with the scope that the audit needs. */
export async function auditorOf(who: Person): Promise<Person> {
  const token = await mint({ sub: who.sub, org: who.org, scope: "sandbox:admin", expires: EXPIRES_SECONDS });
  return { ...who, token };
}

export const auditPath = (session: string, query = "") => `/api/sandboxes/default/sessions/${session}/audit${query}`;

/** All records of a session, page by page. @throws {Error} If they are no chain that ends at the head. */
export async function auditOf(who: Person, session: string, limit = 1000): Promise<AuditRecord[]> {
  return recordsAt(`${system.origin}${auditPath(session)}`, (await auditorOf(who)).token, limit);
}

/** The same of whatever has an audit at `url`, on any system. */
export async function recordsAt(url: string, token: string, limit = 1000): Promise<AuditRecord[]> {
  const records: AuditRecord[] = [];
  for (;;) {
    const after = records.at(-1)?.seq ?? 0;
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(`${url}?after=${after}&limit=${limit}`, { headers });
    if (response.status !== 200) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
    const page = (await response.json()) as { records: AuditRecord[]; head: ChainPoint };
    records.push(...page.records);
    if (page.records.length > 0) continue;
    const verdict = verifyChain(records, CHAIN_START);
    if (!verdict.ok) throw new Error(verdict.reason);
    if (verdict.head.hash !== page.head.hash) throw new Error(`The chain ends at ${verdict.head.seq}, not at the head`);
    return records;
  }
}

/** A record without its number, time, hash and place: what it says. */
export function said(record: AuditRecord): Record<string, unknown> {
  const { seq: _seq, time: _time, hash: _hash, sandbox: _sandbox, session: _session, ...rest } = record;
  return rest;
}

/** What is recorded of a client's input on a terminal. @throws {Error} Where some is missing, or came again as another. */
export function recordedInput(records: readonly AuditRecord[], client: string): string {
  let input = "";
  for (const record of records) {
    if (record.type !== "input" || record.client !== client) continue;
    const [offset, text] = [Number(record.offset), String(record.text)];
    const again = input.slice(offset);
    if (offset > input.length) throw new Error(`Recorded at ${offset}, expected at ${input.length}`);
    if (!text.startsWith(again)) throw new Error(`Recorded as ${again}, and then as ${text}`);
    input += text.slice(again.length);
  }
  return input;
}
