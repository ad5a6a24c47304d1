// The list of sessions and commands with a search: arrows choose, Enter runs, Tab leads to other actions.

import "./palette.css";
import { Check, Ellipsis, SquareTerminal } from "lucide-react";
import { type CSSProperties, Fragment, type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import type { SessionTarget } from "../connection/session-target.ts";
import { useOwnKeys } from "../keys/own-keys.ts";
import { useTexts } from "../texts/texts-context.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { isGenerated } from "../workspace/labels.ts";
import { type PaneId, paneIdOf } from "../workspace/layout.ts";
import type { WorkspaceCommand } from "../workspace/layout-keys.ts";
import { NameField } from "../workspace/NameField.tsx";
import type { SessionNames } from "../workspace/session-names.ts";
import { newSessionEntry, paletteCommands } from "./palette-commands.ts";
import { ageOf, attachCommand, commandLineOf, found, type PaletteEntry, sessionEntry } from "./palette-model.ts";
import { endSession, type ListedSession, miniatureCols, type SessionScreen } from "./session-list.ts";
import { useSessions } from "./use-sessions.ts";

// One file for the browser: each further one costs more than this dialog.
export { EndDialog } from "./EndDialog.tsx";

export type PaletteProps = {
  /** Sandboxes that this page knows; the server lists the others. */
  readonly sandboxes: readonly string[];
  /** The open panes. */
  readonly open: ReadonlySet<PaneId>;
  /** The person's own names of sessions. */
  readonly names: SessionNames;
  /** What the page calls a session. */
  readonly titleOf: (target: SessionTarget) => string;
  readonly onRename: (target: SessionTarget, name: string) => void;
  readonly may: (command: WorkspaceCommand) => boolean;
  /** Whether the setting that the command chooses is on already. */
  readonly isOn: (command: WorkspaceCommand) => boolean;
  readonly mayEnd: boolean;
  /** The ports of web servers in the focused pane. */
  readonly ports: readonly number[];
  readonly onOpen: (target: SessionTarget, how: Opening) => void;
  readonly onCommand: (command: WorkspaceCommand) => void;
  readonly onClose: () => void;
};

export function Palette(props: PaletteProps) {
  const texts = useTexts();
  const { palette: words, connection } = texts;
  const [query, setQuery] = useState("");
  /** undefined: the first. */
  const [chosen, setChosen] = useState<string>();
  const [watched, setWatched] = useState<string>();
  const [ended, setEnded] = useState<PaneId>();
  const [notice, setNotice] = useState("");
  const listId = useId();
  const search = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const sessions = useSessions(props.sandboxes, watched, ended, connection.unreadable);
  const hasPanes = props.open.size > 1;
  const commands = paletteCommands(texts, hasPanes, sessions.sandboxes, props.may, useOwnKeys(), props.ports);
  const matching = found(
    [...sessions.listed.map((one) => sessionEntry(one, props.titleOf(one.target))), ...commands],
    query,
  );
  const mayName = matching.length === 0 && !sessions.isLoading && props.may({ do: "new" });
  const named = mayName ? newSessionEntry(query, texts) : undefined;
  const entries = named === undefined ? matching : [named];
  const counts = (["session", "command"] as const).map((each) => matching.filter(({ kind }) => kind === each).length);
  const at = Math.max(
    0,
    entries.findIndex(({ id }) => id === chosen),
  );
  const entry = entries[at];
  const idOf = (index: number) => `${listId}-${index}`;

  useEffect(() => setWatched(entry?.id), [entry?.id]);

  // What is listed later must not change whose actions are shown.
  useEffect(() => {
    if (!sessions.isLoading) setChosen((before) => before ?? entry?.id);
  }, [sessions.isLoading, entry?.id]);

  const choose = (index: number) => {
    const to = (index + entries.length) % entries.length;
    setChosen(entries[to]?.id);
    list.current?.querySelectorAll("[role=option]")[to]?.scrollIntoView({ block: "nearest" });
  };
  const run = (one: PaletteEntry | undefined) => {
    if (one === undefined) return;
    props.onClose();
    if (one.kind === "session") props.onOpen(one.listed.target, "here");
    else props.onCommand(one.command);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "ArrowDown") choose(at + 1);
    else if (event.key === "ArrowUp") choose(at - 1);
    else if (event.key === "PageDown") choose(Math.min(at + 10, entries.length - 1));
    else if (event.key === "PageUp") choose(Math.max(at - 10, 0));
    else if (event.key === "Enter") run(entry);
    else return;
    event.preventDefault();
  };
  const copy = async (listed: ListedSession) => {
    const command = attachCommand(location.origin, listed);
    try {
      await navigator.clipboard.writeText(command);
      setNotice(words.copied);
    } catch {
      // Blocked by the browser: show the command instead.
      setNotice(words.notCopied(command));
    }
  };
  const end = async (listed: ListedSession) => {
    search.current?.focus();
    setEnded(paneIdOf(listed.target));
    const answer = await endSession(listed.target);
    if (!answer.ok) setEnded(undefined);
    setNotice(answer.ok ? words.ended(props.titleOf(listed.target)) : (answer.reason ?? connection.unreadable));
    sessions.refresh();
  };

  return (
    <Dialog title={words.title} onClose={props.onClose} className="sbx-palette">
      <input
        className="sbx-palette-search"
        ref={search}
        type="text"
        role="combobox"
        aria-label={words.search}
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={entry === undefined ? undefined : idOf(at)}
        autoComplete="off"
        spellCheck={false}
        placeholder={words.placeholder}
        value={query}
        onChange={(event) => {
          setQuery(event.currentTarget.value);
          setChosen(undefined);
        }}
        onKeyDown={onKey}
      />
      <p className="sbx-palette-said" role="status">
        {notice ||
          (sessions.isLoading
            ? words.loading
            : matching.length === 0
              ? words.nothing(query)
              : words.results(counts[0] ?? 0, counts[1] ?? 0))}
      </p>
      {sessions.unasked === 0 ? null : <p className="sbx-palette-said">{words.unasked(sessions.unasked)}</p>}
      {sessions.problems.map(([sandbox, why]) => (
        <p key={sandbox} className="sbx-problem">
          {words.unlisted(sandbox, why)}
        </p>
      ))}
      <div className="sbx-palette-found" data-alone={entry?.kind !== "session"}>
        <div
          className="sbx-palette-list"
          data-empty={matching.length === 0}
          role="listbox"
          id={listId}
          aria-label={words.list}
          ref={list}
        >
          {entries.map((one, index) => (
            <Fragment key={one.id}>
              {named !== undefined || entries[index - 1]?.kind === one.kind ? null : (
                <div className="sbx-palette-heading" role="presentation">
                  {words.headings[one.kind]}
                </div>
              )}
              {/* biome-ignore lint/a11y/useKeyWithClickEvents: the keys are at the field that has the focus. */}
              <div
                id={idOf(index)}
                className="sbx-palette-entry"
                role="option"
                tabIndex={-1}
                aria-selected={index === at}
                aria-current={one.kind === "command" && props.isOn(one.command)}
                onClick={() => run(one)}
              >
                {one.kind === "command" ? (
                  <>
                    {props.isOn(one.command) ? <Check size={14} aria-hidden /> : <span />}
                    <span className="sbx-palette-name">{one.words}</span>
                    {one.keys === undefined ? null : <kbd>{one.keys}</kbd>}
                  </>
                ) : (
                  <SessionLine
                    listed={one.listed}
                    label={one.label}
                    isOpen={props.open.has(one.id)}
                    onMore={() => setChosen(one.id)}
                  />
                )}
              </div>
            </Fragment>
          ))}
        </div>
        {entry?.kind === "session" ? (
          <SessionPreview
            key={entry.id}
            listed={entry.listed}
            screen={sessions.screens.get(entry.id)}
            mayEnd={props.mayEnd}
            onOpen={(how) => {
              props.onClose();
              props.onOpen(entry.listed.target, how);
            }}
            onCopy={() => void copy(entry.listed)}
            onEnd={() => void end(entry.listed)}
            label={entry.label}
            name={props.names[entry.id]}
            onRename={(name) => {
              search.current?.focus();
              if (name === undefined) return;
              props.onRename(entry.listed.target, name);
              setChosen(entry.id);
            }}
          />
        ) : null}
      </div>
    </Dialog>
  );
}

type LineProps = {
  readonly listed: ListedSession;
  readonly label: string;
  readonly isOpen: boolean;
  /** Shows the session's actions, without opening it. */
  readonly onMore: () => void;
};

function SessionLine({ listed, label, isOpen, onMore }: LineProps) {
  const { palette: words, terminal } = useTexts();
  const { target, exitCode, createdAtMs, lastOutputAtMs, people, state } = listed;
  const nowMs = Date.now();
  const age = ageOf(createdAtMs, nowMs);
  const quiet = ageOf(lastOutputAtMs, nowMs);
  const last = Number.isNaN(quiet.count) ? age : quiet;
  const times = [words.age(age.count, age.unit), words.lastOutput(quiet.count, quiet.unit)];
  // A running session with nobody else in it is the usual case, and says nothing.
  const facts = [
    state !== "running" && (exitCode === undefined ? words.state[state] : words.exited(exitCode)),
    people.length > (isOpen ? 1 : 0) && words.people(people),
  ].filter((fact) => fact !== false);
  const command = commandLineOf(listed);
  return (
    <>
      <SquareTerminal size={14} aria-hidden />
      <span className="sbx-palette-name" title={terminal.place(target.sandbox, target.session)}>
        <strong>{label}</strong>
      </span>
      <small title={Number.isNaN(quiet.count) ? times[0] : times.join(", ")}>
        {Number.isNaN(last.count) ? "" : words.ago(last.count, last.unit)}
      </small>
      {/* An option holds no button: by keyboard, arrows and Tab lead to the actions. */}
      <span
        className="sbx-palette-more"
        aria-hidden="true"
        title={words.more}
        onClick={(event) => {
          event.stopPropagation();
          onMore();
        }}
      >
        <Ellipsis size={16} />
      </span>
      <span className="sbx-palette-facts">
        {isGenerated(target) || label === target.session
          ? target.sandbox
          : terminal.place(target.sandbox, target.session)}
        {" · "}
        <code>{command === "" ? words.shell : command}</code>
        {facts.map((fact) => ` · ${fact}`)}
      </span>
    </>
  );
}

type Opening = "here" | "right" | "below";

type SessionPreviewProps = {
  readonly listed: ListedSession;
  readonly screen: SessionScreen | undefined;
  readonly mayEnd: boolean;
  readonly onOpen: (how: Opening) => void;
  readonly onCopy: () => void;
  readonly onEnd: () => void;
  readonly label: string;
  /** The person's own name for it. */
  readonly name: string | undefined;
  /** undefined: unchanged. */
  readonly onRename: (name: string | undefined) => void;
};

/** One session of the list: its screen and the actions on it. */
function SessionPreview(props: SessionPreviewProps) {
  const { listed, screen, mayEnd, onOpen, onCopy, onEnd, label, name, onRename } = props;
  const { palette: words } = useTexts();
  const [isAsking, setAsking] = useState(false);
  /** Whether to focus the button after a cancelled question. */
  const [isKept, setKept] = useState(false);
  const [isNaming, setNaming] = useState(false);
  const cols: (CSSProperties & Record<"--cols", number>) | undefined = screen && { "--cols": miniatureCols(screen) };
  return (
    <section className="sbx-preview" aria-label={label}>
      {isNaming ? (
        <NameField
          label={words.nameOf(label)}
          name={name ?? ""}
          placeholder={label}
          onName={(text) => {
            setNaming(false);
            onRename(text);
          }}
        />
      ) : isAsking ? (
        <EndQuestion
          listed={listed}
          label={label}
          onEnd={onEnd}
          onKeep={() => {
            setAsking(false);
            setKept(true);
          }}
        />
      ) : (
        <div className="sbx-preview-actions">
          <button type="button" className="sbx-button sbx-primary" onClick={() => onOpen("here")}>
            {words.open}
          </button>
          <button type="button" className="sbx-button sbx-beside" onClick={() => onOpen("right")}>
            {words.openRight}
          </button>
          <button type="button" className="sbx-button sbx-beside" onClick={() => onOpen("below")}>
            {words.openBelow}
          </button>
          <button type="button" className="sbx-button" onClick={onCopy}>
            {words.copy}
          </button>
          <button type="button" className="sbx-button" onClick={() => setNaming(true)}>
            {words.rename}
          </button>
          {mayEnd && listed.state === "running" ? (
            <button
              type="button"
              className="sbx-button"
              // biome-ignore lint/a11y/noAutofocus: the button that was pressed before is gone.
              autoFocus={isKept}
              onClick={() => setAsking(true)}
            >
              {words.end}
            </button>
          ) : null}
        </div>
      )}
      {/* Below the buttons: it comes later, and would move them from under the pointer. */}
      {screen === undefined ? (
        <p className="sbx-miniature-none">{words.noScreen}</p>
      ) : (
        <div className="sbx-miniature" role="img" aria-label={words.screen(label)} style={cols}>
          <pre aria-hidden="true">{screen.lines.join("\n")}</pre>
        </div>
      )}
    </section>
  );
}

type EndQuestionProps = {
  readonly listed: ListedSession;
  readonly label: string;
  readonly onEnd: () => void;
  readonly onKeep: () => void;
};

/** The focus is on the safe answer. */
function EndQuestion({ listed, label, onEnd, onKeep }: EndQuestionProps) {
  const { palette: words } = useTexts();
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => keep.current?.focus(), []);
  return (
    <div className="sbx-preview-actions" role="alertdialog" aria-label={words.endIt(label)}>
      <p>{words.endWhy(commandLineOf(listed))}</p>
      <button type="button" className="sbx-button" ref={keep} onClick={onKeep}>
        {words.keepIt}
      </button>
      <button type="button" className="sbx-button sbx-dangerous" onClick={onEnd}>
        {words.endIt(label)}
      </button>
    </div>
  );
}
