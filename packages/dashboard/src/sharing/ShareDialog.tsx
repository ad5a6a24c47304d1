// Shares a session in one line: makes a link and copies it. Above it who is here, below it the links that are valid. The server decides
// what may be shared.

import "./share.css";
import { Link2 } from "lucide-react";
import { type FormEvent, type RefObject, useEffect, useEffectEvent, useId, useRef, useState } from "react";
import { DEFAULT_SHARE_SECONDS, nameOf, type Participants, personsOf, type Role } from "sandbox-stdio/core";
import { encode } from "uqr";
import type { SessionTarget } from "../connection/session-target.ts";
import type { Texts } from "../texts/texts.ts";
import { useTexts } from "../texts/texts-context.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { listTickets, revokeTicket, type Share, share, type TicketEntry } from "./sharing.ts";

const LIFETIMES = [900, 3600, 28800, 86400, 604800, 2592000] as const;

export type ShareDialogProps = {
  readonly target: SessionTarget;
  /** What the page calls the session. */
  readonly name: string;
  /** Who is in the session. */
  readonly people: Participants | undefined;
  /** Whether there is a recording, which a link may give too. */
  readonly isRecorded: boolean;
  readonly onClose: () => void;
};

export function ShareDialog({ target, name, people, isRecorded, onClose }: ShareDialogProps) {
  const { share: words, connection } = useTexts();
  const [made, setMade] = useState<Share & { readonly wish: string }>();
  const [outcome, setOutcome] = useState("");
  const [tickets, setTickets] = useState<readonly TicketEntry[]>([]);
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);

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
  /** The link that is shown is of that kind: another one would only have to be revoked as well. */
  const linkFor = async (options: Parameters<typeof share>[1]): Promise<string | undefined> => {
    const wish = JSON.stringify(options);
    if (made?.wish === wish) return made.url;
    setBusy(true);
    const answer = await share(target, options);
    setBusy(false);
    setProblem(answer.ok ? "" : (answer.reason ?? connection.unreadable));
    if (!answer.ok) return undefined;
    setMade({ ...answer.value, wish });
    void refresh();
    return answer.value.url;
  };
  const copy = async (url: string) => {
    try {
      await navigator.clipboard.writeText(url);
      setOutcome(words.copied);
    } catch {
      // Blocked by the browser: the person can copy the selected text.
      field.current?.select();
      setOutcome(words.selected);
    }
  };
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const role: Role = form.get("role") === "driver" ? "driver" : "viewer";
    const recording = form.get("recording") === "on";
    const seconds = Number(form.get("seconds"));
    const url = await linkFor({ role, seconds, guests: form.get("who") === "guests", ...(recording && { recording }) });
    if (url !== undefined) await copy(url);
  };
  const revoke = async (id: string) => {
    const answer = await revokeTicket(target, id);
    setProblem(answer.ok ? "" : (answer.reason ?? connection.unreadable));
    if (answer.ok && made?.id === id) setMade(undefined);
    await refresh();
  };

  return (
    <Dialog title={words.title(name)} onClose={onClose} className="sbx-share-dialog">
      {people === undefined ? null : <People people={people} />}
      <form onSubmit={(event) => void submit(event)}>
        <p className="sbx-share-line">
          {words.anyone} <Choice name="who" label={words.whoMay} choices={words.who} />
          {words.can} <Choice name="role" label={words.mayDo} choices={words.does} />
          {words.for}{" "}
          <select name="seconds" aria-label={words.howLong} defaultValue={DEFAULT_SHARE_SECONDS}>
            {LIFETIMES.map((seconds) => (
              <option key={seconds} value={seconds}>
                {words.lifetime[seconds]}
              </option>
            ))}
          </select>
          {isRecorded ? (
            <label>
              {" "}
              <input type="checkbox" name="recording" /> {words.recording}
            </label>
          ) : null}
        </p>
        {/^(localhost|127\.|\[::1)/.test(location.hostname) ? (
          <p>
            {words.onlyHere} <code>{words.serve}</code>
          </p>
        ) : null}
        <button type="submit" className="sbx-button sbx-primary" disabled={isBusy}>
          <Link2 size={16} aria-hidden /> {words.make}
        </button>
      </form>
      <p role="alert" className="sbx-problem">
        {problem}
      </p>
      {made === undefined ? null : (
        <Link key={made.id} share={made} field={field} outcome={outcome} onCopy={(url) => void copy(url)} />
      )}
      <Tickets tickets={tickets} onRevoke={(id) => void revoke(id)} />
      <div className="sbx-answers">
        <button type="button" className="sbx-button" onClick={onClose}>
          {words.close}
        </button>
      </div>
    </Dialog>
  );
}

type ChoiceProps = {
  readonly name: string;
  readonly label: string;
  readonly choices: Readonly<Record<string, string>>;
};

function Choice({ name, label, choices }: ChoiceProps) {
  return (
    <select name={name} aria-label={label}>
      {Object.entries(choices).map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
}

function People({ people }: { readonly people: Participants }) {
  const { people: words, share } = useTexts();
  return (
    <ul className="sbx-share-people" aria-label={words.who}>
      {personsOf(people).map((windows) => {
        const facts = [
          windows.some(({ id }) => id === people.you) && words.you,
          windows.length > 1 && words.windows(windows.length),
        ];
        const name = nameOf(people, windows[0]?.id ?? "", words);
        return (
          <li key={name}>
            <span>
              {name} <small>{facts.filter(Boolean).join(", ")}</small>
            </span>
            <span>{windows.some(({ role }) => role === "driver") ? share.mayType : share.mayLookOn}</span>
          </li>
        );
      })}
    </ul>
  );
}

type LinkProps = {
  readonly share: Share;
  readonly field: RefObject<HTMLInputElement | null>;
  readonly outcome: string;
  readonly onCopy: (url: string) => void;
};

function Link({ share: { url, expiresAt }, field, outcome, onCopy }: LinkProps) {
  const words = useTexts().share;
  const id = useId();
  return (
    <div className="sbx-made">
      <Code text={url} words={words} />
      <div>
        <label htmlFor={id}>{words.link(timeOf(expiresAt, words))}</label>
        <div className="sbx-made-link">
          <input id={id} ref={field} readOnly value={url} onFocus={(event) => event.currentTarget.select()} />
          <button type="button" className="sbx-button" onClick={() => onCopy(url)}>
            {words.copy}
          </button>
        </div>
        <span role="status">{outcome}</span>
      </div>
    </div>
  );
}

/** What a phone's camera tells apart at arm's length. */
const MODULE_PX = 4;
/** The window's and the dialog's edges on a phone, where the code is as wide as the dialog. */
const AROUND_PX = 26;

/** For the camera of a phone: dark on light in every scheme. A press makes it as large as the dialog has room. */
function Code({ text, words }: { readonly text: string; readonly words: Texts["share"] }) {
  const [room, setRoom] = useState<number>();
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (room !== undefined) button.current?.scrollIntoView({ block: "nearest" });
  }, [room]);
  const { data, size } = encode(text, { border: 2 });
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  // Each module has a whole number of the screen's own pixels.
  const dots = devicePixelRatio;
  const most = (width: number) => Math.floor((width / size) * dots);
  const least = Math.min(Math.ceil(MODULE_PX * dots), most(innerWidth - AROUND_PX));
  const px = (Math.max(least, most(room ?? 0)) / dots) * size;
  return (
    <button
      type="button"
      className="sbx-code"
      ref={button}
      aria-label={words.code}
      aria-pressed={room !== undefined}
      title={room === undefined ? words.larger : words.smaller}
      onClick={({ currentTarget: { parentElement } }) => {
        const width = parentElement?.clientWidth ?? 0;
        setRoom(room === undefined ? Math.min(width, innerHeight - 32) : undefined);
      }}
    >
      <svg viewBox={`0 0 ${size} ${size}`} width={px} height={px} shapeRendering="crispEdges" aria-hidden="true">
        <path d={path.join("")} />
      </svg>
    </button>
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
        {tickets.map(({ id, role, isForGuests, hasRecording, expiresAt }) => (
          <tr key={id} data-ticket={id}>
            <td>
              <span>
                {role === "driver" ? words.mayType : words.mayLookOn} {hasRecording ? words.recording : ""}
              </span>
              <span>{isForGuests ? words.guestsToo : words.loggedIn}</span>
              <span>{words.until(timeOf(expiresAt, words))}</span>
            </td>
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
