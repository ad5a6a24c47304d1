// Creates, lists and revokes share links of a session. The server decides what may be shared.

import { type FormEvent, useEffect, useEffectEvent, useId, useRef, useState } from "react";
import { DEFAULT_SHARE_SECONDS, type Role } from "sandbox-stdio/core";
import type { SessionTarget } from "../connection/session-target.ts";
import type { Texts } from "../texts/texts.ts";
import { useTexts } from "../texts/texts-context.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { listTickets, revokeTicket, type Share, share, type TicketEntry } from "./sharing.ts";

const LIFETIMES = [900, 3600, 28800, 86400] as const;

export type ShareDialogProps = {
  readonly target: SessionTarget;
  /** The person's own name of the session. */
  readonly name: string | undefined;
  readonly onClose: () => void;
};

export function ShareDialog({ target, name, onClose }: ShareDialogProps) {
  const { share: words, connection, terminal } = useTexts();
  const place = name ?? terminal.place(target.sandbox, target.session);
  const [made, setMade] = useState<Share & { readonly wish: string }>();
  const [tickets, setTickets] = useState<readonly TicketEntry[]>([]);
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);

  const list = useEffectEvent(async () => {
    const answer = await listTickets(target);
    if (answer.ok) setTickets(answer.value);
    else setProblem(answer.reason ?? connection.unreadable);
  });
  useEffect(() => void list(), []);

  const refresh = async () => {
    const answer = await listTickets(target);
    if (answer.ok) setTickets(answer.value);
  };
  const make = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const role: Role = form.get("role") === "driver" ? "driver" : "viewer";
    const options = { role, seconds: Number(form.get("seconds")), guests: form.has("guests") };
    const wish = JSON.stringify(options);
    // The link that is shown is of that kind: another one would only have to be revoked as well.
    if (made?.wish === wish) return;
    setBusy(true);
    const answer = await share(target, options);
    setBusy(false);
    setProblem(answer.ok ? "" : (answer.reason ?? connection.unreadable));
    if (!answer.ok) return;
    setMade({ ...answer.value, wish });
    await refresh();
  };
  const revoke = async (id: string) => {
    const answer = await revokeTicket(target, id);
    setProblem(answer.ok ? "" : (answer.reason ?? connection.unreadable));
    if (answer.ok && made?.id === id) setMade(undefined);
    await refresh();
  };

  return (
    <Dialog title={words.title(place)} onClose={onClose} className="sbx-share-dialog">
      <form onSubmit={(event) => void make(event)}>
        <fieldset>
          <legend>{words.mayDo}</legend>
          <label>
            <input type="radio" name="role" value="viewer" defaultChecked /> {words.lookOn}
          </label>
          <label>
            <input type="radio" name="role" value="driver" /> {words.type}
          </label>
        </fieldset>
        <label>
          {words.for}
          <select name="seconds" defaultValue={DEFAULT_SHARE_SECONDS}>
            {LIFETIMES.map((seconds) => (
              <option key={seconds} value={seconds}>
                {words.lifetime[seconds]}
              </option>
            ))}
          </select>
        </label>
        <label>
          <input type="checkbox" name="guests" /> {words.guests}
        </label>
        <button type="submit" className="sbx-button sbx-primary" disabled={isBusy}>
          {words.make}
        </button>
      </form>
      <p role="alert" className="sbx-problem">
        {problem}
      </p>
      {made === undefined ? null : <Link key={made.id} share={made} />}
      <Tickets tickets={tickets} onRevoke={(id) => void revoke(id)} />
      <div className="sbx-answers">
        <button type="button" className="sbx-button" onClick={onClose}>
          {words.close}
        </button>
      </div>
    </Dialog>
  );
}

function Link({ share: { url, expiresAt } }: { readonly share: Share }) {
  const words = useTexts().share;
  const field = useRef<HTMLInputElement>(null);
  const [outcome, setOutcome] = useState("");
  const id = useId();
  const copy = async () => {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(url);
      setOutcome(words.copied);
    } catch {
      // Blocked by the browser: the person can copy the selected text.
      setOutcome(words.selected);
    }
  };
  return (
    <div className="sbx-made">
      <label htmlFor={id}>{words.link(timeOf(expiresAt, words))}</label>
      <div>
        <input
          className="sbx-made-link"
          id={id}
          ref={field}
          readOnly
          value={url}
          onFocus={(event) => event.currentTarget.select()}
        />
        <button type="button" className="sbx-button sbx-primary" onClick={() => void copy()}>
          {words.copy}
        </button>
      </div>
      <span role="status">{outcome}</span>
    </div>
  );
}

type TicketsProps = { readonly tickets: readonly TicketEntry[]; readonly onRevoke: (id: string) => void };

function Tickets({ tickets, onRevoke }: TicketsProps) {
  const words = useTexts().share;
  if (tickets.length === 0) return null;
  return (
    <table className="sbx-tickets">
      <caption>{words.links}</caption>
      <tbody>
        {tickets.map(({ id, role, isForGuests, expiresAt }) => (
          <tr key={id} data-ticket={id}>
            <td>{role === "driver" ? words.mayType : words.mayLookOn}</td>
            <td>{isForGuests ? words.guestsToo : words.loggedIn}</td>
            <td>{words.until(timeOf(expiresAt, words))}</td>
            <td>
              <button
                type="button"
                className="sbx-button"
                aria-label={words.revokeTitle(timeOf(expiresAt, words))}
                onClick={() => onRevoke(id)}
              >
                {words.revoke}
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function timeOf(iso: string, words: Texts["share"]): string {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? iso : words.time(time);
}
