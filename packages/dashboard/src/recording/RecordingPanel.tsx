// The timeline under a terminal, and the screen of the moment that it stands at over the live one.

import "./recording.css";
import { type RefObject, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { createPortal } from "react-dom";
import type { CastEvent, CastInfo } from "sandbox-stdio/recording";
import type { SessionTarget } from "../connection/session-target.ts";
import type { Look } from "../terminal/terminal-look.ts";
import { TerminalView } from "../terminal/terminal-view.ts";
import { useTexts } from "../texts/texts-context.ts";
import { type Moment, matchAt, RecordingModel, type SharedRecording } from "./recording-model.ts";

export type RecordingPanelProps = {
  readonly target: SessionTarget;
  /** undefined: the end. */
  readonly moment: Moment | undefined;
  /** undefined: the cookie is the way in. */
  readonly shared: SharedRecording | undefined;
  readonly look: Look;
  /** The live screen, over which the recording's is drawn. */
  readonly stage: RefObject<HTMLElement | null>;
  readonly onClose: () => void;
};

const SPEEDS = [0.5, 1, 2, 4, 8, 16, 64] as const;
/** Characters that may wait to be drawn. */
const MAX_WAITING = 262_144;
/** Keys that move the slider by a step; by default they would move it by 1 ms. */
const ARROWS: Readonly<Record<string, 1 | -1>> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };
const ignore = (): undefined => undefined;
const NO_EVENTS = { fits: ignore, changed: ignore, link: ignore, follow: ignore, followText: ignore };

export default function RecordingPanel({ target, moment, shared, look, stage, onClose }: RecordingPanelProps) {
  const words = useTexts().recording;
  const screen = useRef<HTMLDivElement>(null);
  const [model, setModel] = useState<RecordingModel>();
  // A look or moment that changes later is not worth another start.
  const first = useRef({ look, moment, shared, label: words.label });
  const { sandbox, session } = target;
  useEffect(() => {
    if (screen.current === null) return;
    const { look, moment, shared, label } = first.current;
    const view = new TerminalView(screen.current, { renderer: "dom", label, look }, NO_EVENTS);
    view.terminal.options.disableStdin = true;
    view.isReadOnly = true;
    const made = new RecordingModel({ sandbox, session }, new DrawingQueue(view.terminal), shared);
    setModel(made);
    void made.open(moment);
    return () => {
      made.dispose();
      view.dispose();
    };
  }, [sandbox, session]);
  const area = stage.current?.parentElement;
  if (area == null) return null;
  // Over the live screen, whose size stays as it is.
  return createPortal(
    <div className="sbx-replay">
      <div className="sbx-stage" ref={screen} />
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset belongs to a form. */}
      <div className="sbx-bar sbx-timeline" role="group" aria-label={words.label}>
        <button type="button" className="sbx-button" onClick={onClose}>
          {words.live}
        </button>
        {model === undefined ? null : <Timeline model={model} session={session} />}
      </div>
    </div>,
    area,
  );
}

/** The emulator draws later than it is told: what is to happen between two texts waits for the one before. */
class DrawingQueue {
  readonly #terminal: TerminalView["terminal"];
  #waiting = 0;

  constructor(terminal: TerminalView["terminal"]) {
    this.#terminal = terminal;
  }

  readonly reset = ({ cols, rows }: CastInfo): void => {
    this.#terminal.write("", () => {
      this.#terminal.reset();
      this.#terminal.resize(cols, rows);
    });
  };

  /** @returns A promise while much waits: xterm.js drops what is too much. */
  readonly show = (event: CastEvent): Promise<void> | undefined => {
    if (event.type === "r") this.#terminal.write("", () => this.#terminal.resize(event.cols, event.rows));
    if (event.type !== "o") return undefined;
    this.#waiting += event.text.length;
    const done = new Promise<void>((resolve) => {
      this.#terminal.write(event.text, () => {
        this.#waiting -= event.text.length;
        resolve();
      });
    });
    return this.#waiting > MAX_WAITING ? done : undefined;
  };
}

type Labelled = readonly [sign: string, said: string];

function Tool({ of, onClick, isOff = false }: { of: Labelled; onClick: () => void; isOff?: boolean }) {
  const [sign, said] = of;
  return (
    <button type="button" className="sbx-quiet" aria-label={said} title={said} disabled={isOff} onClick={onClick}>
      {sign}
    </button>
  );
}

function Timeline({ model, session }: { readonly model: RecordingModel; readonly session: string }) {
  const words = useTexts().recording;
  const state = useSyncExternalStore(model.subscribe, model.getState);
  const { recording, atMs, endMs, commands, fault } = state;
  const [said, setSaid] = useState("");
  if (recording === undefined)
    return <span role="status">{fault === undefined ? words.loading : words.failed(fault)}</span>;
  const copy = () => {
    const link = model.link(location.href);
    const done = navigator.clipboard?.writeText(link) ?? Promise.reject(new Error("no clipboard"));
    void done.then(
      () => setSaid(words.copied),
      () => setSaid(words.notCopied(link)),
    );
  };
  const shownMs = Math.max(atMs, recording.startMs);
  return (
    <>
      <Tool
        of={state.isPlaying ? words.pause : words.play}
        onClick={() => (state.isPlaying ? model.set({ isPlaying: false }) : model.play())}
      />
      <input
        type="range"
        aria-label={words.position}
        aria-valuetext={words.time(shownMs)}
        min={recording.startMs}
        max={Math.max(endMs, recording.startMs + 1)}
        value={shownMs}
        onChange={(event) => model.seek(Number(event.target.value))}
        onKeyDown={(event) => {
          const direction = ARROWS[event.key];
          if (direction === undefined) return;
          event.preventDefault();
          model.step(direction);
        }}
      />
      <time dateTime={new Date(shownMs).toISOString()}>{words.time(shownMs)}</time>
      <select
        aria-label={words.speed}
        value={state.speed}
        onChange={(event) => model.set({ speed: Number(event.target.value) })}
      >
        {SPEEDS.map((speed) => (
          <option key={speed} value={speed}>
            {words.times(speed)}
          </option>
        ))}
      </select>
      <Tool of={words.previousCommand} isOff={commands.length === 0} onClick={() => model.jump("commands", -1)} />
      <Tool of={words.nextCommand} isOff={commands.length === 0} onClick={() => model.jump("commands", 1)} />
      <Search model={model} />
      <button
        type="button"
        className="sbx-quiet"
        aria-pressed={state.skipsIdle}
        onClick={() => model.set({ skipsIdle: !state.skipsIdle })}
      >
        {words.skipsIdle}
      </button>
      <button type="button" className="sbx-quiet" onClick={copy}>
        {words.link}
      </button>
      {model.download === undefined ? null : (
        <a className="sbx-quiet" href={model.download} download={`${session}.cast`}>
          {words.download}
        </a>
      )}
      <span role="status">{fault === undefined ? said : words.failed(fault)}</span>
    </>
  );
}

function Search({ model }: { readonly model: RecordingModel }) {
  const words = useTexts().recording;
  const { term, hits, atMs } = useSyncExternalStore(model.subscribe, model.getState);
  const [text, setText] = useState("");
  const isNone = hits === undefined || hits.length === 0;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text === term && !isNone) model.jump("hits", 1);
        else void model.find(text);
      }}
    >
      <input
        type="search"
        value={text}
        aria-label={words.term}
        placeholder={words.term}
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
      />
      <span role="status">
        {term === "" ? "" : hits === undefined ? words.searching : words.matches(hits.length, matchAt(hits, atMs))}
      </span>
      <Tool of={words.previousMatch} isOff={isNone} onClick={() => model.jump("hits", -1)} />
      <Tool of={words.nextMatch} isOff={isNone} onClick={() => model.jump("hits", 1)} />
    </form>
  );
}
