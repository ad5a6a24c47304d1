// Sharing a session: makes a link, and lists those that are good still, to take them back. What may be shared the server
// decides.

import { type FormEvent, useEffect, useEffectEvent, useId, useRef, useState } from "react";
import { DEFAULT_SHARE_SECONDS, type Role } from "sandbox-stdio/core";
import { Dialog } from "./Dialog.tsx";
import { listTickets, type Place, revokeTicket, type Share, share, type TicketEntry } from "./sharing.ts";

const LIFETIMES: readonly (readonly [seconds: number, words: string])[] = [
  [15 * 60, "15 minutes"],
  [60 * 60, "an hour"],
  [8 * 60 * 60, "8 hours"],
  [24 * 60 * 60, "a day"],
];

export type ShareDialogProps = { readonly place: Place; readonly onClose: () => void };

export function ShareDialog({ place, onClose }: ShareDialogProps) {
  const [made, setMade] = useState<Share>();
  const [tickets, setTickets] = useState<readonly TicketEntry[]>([]);
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);

  const list = useEffectEvent(async () => {
    const answer = await listTickets(place);
    if (answer.ok) setTickets(answer.value);
    else setProblem(answer.reason);
  });
  useEffect(() => void list(), []);

  const refresh = async () => {
    const answer = await listTickets(place);
    if (answer.ok) setTickets(answer.value);
  };
  const make = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const role: Role = form.get("role") === "driver" ? "driver" : "viewer";
    setBusy(true);
    const answer = await share(place, { role, seconds: Number(form.get("seconds")), guests: form.has("guests") });
    setBusy(false);
    setProblem(answer.ok ? "" : answer.reason);
    if (!answer.ok) return;
    setMade(answer.value);
    await refresh();
  };
  const revoke = async (id: string) => {
    const answer = await revokeTicket(place, id);
    setProblem(answer.ok ? "" : answer.reason);
    if (answer.ok && made?.id === id) setMade(undefined);
    await refresh();
  };

  return (
    <Dialog title={`Share ${place.sandbox} / ${place.session}`} onClose={onClose} className="sbx-share-dialog">
      <form onSubmit={(event) => void make(event)}>
        <fieldset>
          <legend>Whoever has the link may</legend>
          <label>
            <input type="radio" name="role" value="viewer" defaultChecked /> look on
          </label>
          <label>
            <input type="radio" name="role" value="driver" /> type
          </label>
        </fieldset>
        <label>
          for
          <select name="seconds" defaultValue={DEFAULT_SHARE_SECONDS}>
            {LIFETIMES.map(([seconds, words]) => (
              <option key={seconds} value={seconds}>
                {words}
              </option>
            ))}
          </select>
        </label>
        <label>
          <input type="checkbox" name="guests" /> without logging in
        </label>
        <button type="submit" className="sbx-button sbx-primary" disabled={isBusy}>
          Make a link
        </button>
      </form>
      <p role="alert" className="sbx-problem">
        {problem}
      </p>
      {made === undefined ? null : <Link key={made.id} share={made} />}
      <Tickets tickets={tickets} onRevoke={(id) => void revoke(id)} />
      <div className="sbx-answers">
        <button type="button" className="sbx-button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function Link({ share: { url, expiresAt } }: { readonly share: Share }) {
  const field = useRef<HTMLInputElement>(null);
  const [words, setWords] = useState("");
  const id = useId();
  const copy = async () => {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(url);
      setWords("Copied");
    } catch {
      // The browser forbids it: what is selected can be copied by hand.
      setWords("Selected: copy it with Ctrl+C");
    }
  };
  return (
    <div className="sbx-made">
      <label htmlFor={id}>The link, good until {timeOf(expiresAt)}. It is shown only now.</label>
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
          Copy
        </button>
      </div>
      <span role="status">{words}</span>
    </div>
  );
}

type TicketsProps = { readonly tickets: readonly TicketEntry[]; readonly onRevoke: (id: string) => void };

function Tickets({ tickets, onRevoke }: TicketsProps) {
  if (tickets.length === 0) return null;
  return (
    <table className="sbx-tickets">
      <caption>Links that are good now</caption>
      <tbody>
        {tickets.map(({ id, role, isForGuests, expiresAt }) => (
          <tr key={id} data-ticket={id}>
            <td>{role === "driver" ? "may type" : "may look on"}</td>
            <td>{isForGuests ? "guests too" : "logged in"}</td>
            <td>until {timeOf(expiresAt)}</td>
            <td>
              <button
                type="button"
                className="sbx-button"
                aria-label={`Revoke the link that is good until ${timeOf(expiresAt)}`}
                onClick={() => onRevoke(id)}
              >
                Revoke
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

function timeOf(iso: string): string {
  const time = new Date(iso);
  return Number.isNaN(time.getTime()) ? iso : format.format(time);
}
