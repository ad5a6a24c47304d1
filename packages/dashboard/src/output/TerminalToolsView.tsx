// The terminal's tools: search, scrolling to the bottom, and notices of the last action.

import { ClipboardCopy, Copy, RotateCw } from "lucide-react";
import { type CSSProperties, type MouseEvent, useEffect, useRef, useSyncExternalStore } from "react";
import { useOwnKeys } from "../keys/own-keys.ts";
import { keysOfShortcut } from "../terminal/terminal-shortcuts.ts";
import { useTexts } from "../texts/texts-context.ts";
import { outcomeText, type SearchOptions } from "./search-model.ts";
import type { ShownBlock, TerminalTools, ToolsState } from "./terminal-tools.ts";

export type TerminalToolsViewProps = {
  readonly tools: TerminalTools;
  /** Focuses the terminal. */
  readonly onDone: () => void;
};

export function TerminalToolsView({ tools, onDone }: TerminalToolsViewProps) {
  const keys = keysOfShortcut("to-bottom", useOwnKeys());
  const state = useSyncExternalStore(tools.subscribe, tools.getState);
  const words = useTexts();
  return (
    <>
      {state.isSearching ? <SearchBar tools={tools} onDone={onDone} /> : null}
      <div className="sbx-blocks">
        <div style={styleOf(state)}>
          {state.head === undefined ? null : <BlockLine block={state.head} tools={tools} onDone={onDone} />}
          {state.chosen === undefined ? null : (
            <BlockLine block={state.chosen} isChosen tools={tools} onDone={onDone} />
          )}
        </div>
      </div>
      {state.isScrolledUp ? (
        <button
          type="button"
          className="sbx-button sbx-to-bottom"
          title={keys === "" ? words.command.toBottomTitle : `${words.command.toBottomTitle} (${keys})`}
          onClick={() => {
            tools.toBottom();
            onDone();
          }}
        >
          {words.command.toBottom}
        </button>
      ) : null}
      <span className="sbx-said" role="status" key={state.notice?.count}>
        {state.notice?.text}
      </span>
      <span className="sbx-unseen sbx-announced" aria-live="polite">
        <span key={state.announced?.count}>{state.announced?.text}</span>
      </span>
    </>
  );
}

/** Where the terminal's rows are, as properties that the style sheet reads. */
function styleOf({ size: { row, width, height }, chosen }: ToolsState): CSSProperties {
  const px = { "--_row": `${row}px`, "--_width": `${width}px`, "--_height": `${height}px` };
  return { ...px, "--_at": chosen?.row ?? 0 } as CSSProperties;
}

type BlockLineProps = TerminalToolsViewProps & { readonly block: ShownBlock; readonly isChosen?: boolean };

/** A command's line stays above its output while that scrolls. The line of the chosen command is in view: it gets the buttons alone. */
function BlockLine({ block, isChosen = false, tools, onDone }: BlockLineProps) {
  const words = useTexts().command;
  const { line, exit, isRunning, tookMs } = block;
  const state = isRunning ? "running" : exit === 0 ? "good" : exit === undefined ? "ended" : "bad";
  const facts = [
    isRunning ? words.isRunning : exit === undefined || exit === 0 ? "" : words.exit(exit),
    tookMs === undefined ? "" : words.took(tookMs),
  ];
  const actions = [
    [Copy, words.copyCommand, () => tools.copyCommand(block)],
    [ClipboardCopy, words.copyOutput, () => tools.copyOutput(block)],
    [RotateCw, words.runAgain, () => tools.runAgain(block)],
  ] as const;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset belongs to a form.
    <div className="sbx-block" role="group" aria-label={words.block(line)} data-state={state} data-chosen={isChosen}>
      {isChosen ? null : (
        <code className="sbx-block-line" title={line}>
          {line}
        </code>
      )}
      <span className="sbx-block-facts">{facts.filter((fact) => fact !== "").join(" · ")}</span>
      {actions.map(([Icon, label, act]) => (
        <button
          type="button"
          className="sbx-quiet"
          key={label}
          aria-label={label}
          title={label}
          onClick={() => {
            act();
            onDone();
          }}
        >
          <Icon size={14} aria-hidden />
        </button>
      ))}
    </div>
  );
}

const OPTIONS = ["isCaseSensitive", "isWholeWord", "isRegex"] as const satisfies readonly (keyof SearchOptions)[];

function SearchBar({ tools, onDone }: TerminalToolsViewProps) {
  const words = useTexts().search;
  const { search: asked, searches } = useSyncExternalStore(tools.subscribe, tools.getState);
  const { term, options, outcome } = asked;
  const field = useRef<HTMLInputElement>(null);
  const { search } = tools;
  useEffect(() => {
    if (searches === 0) return;
    field.current?.focus();
    field.current?.select();
    void search.find(search.state.term, search.state.options);
  }, [search, searches]);
  /** Keep the focus in the field, where Enter finds the next match. */
  const backFrom = ({ detail }: MouseEvent) => {
    if (detail > 0) field.current?.focus();
  };
  const button = (sign: string, said: string, act: () => void, more = {}) => (
    <button
      type="button"
      className="sbx-quiet"
      key={said}
      aria-label={said}
      title={said}
      onClick={(event) => {
        act();
        backFrom(event);
      }}
      {...more}
    >
      {sign}
    </button>
  );
  const close = () => {
    tools.closeSearch();
    onDone();
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: the element <search> is not known to all of the browsers that this is for.
    <div
      className="sbx-search"
      role="search"
      aria-label={words.label}
      onKeyDown={(event) => {
        if (event.key === "Escape") close();
        else if (event.key === "Enter" && event.target === field.current) {
          void (event.shiftKey ? search.next() : search.previous());
        } else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      <input
        ref={field}
        type="text"
        value={term}
        aria-label={words.term}
        placeholder={words.term}
        spellCheck={false}
        autoComplete="off"
        aria-invalid={outcome.kind === "bad-pattern"}
        onChange={(event) => void search.find(event.target.value, options)}
      />
      <span className="sbx-found" role="status">
        {outcomeText(outcome, words)}
      </span>
      {OPTIONS.map((option) =>
        button(...words.options[option], () => void search.find(term, { ...options, [option]: !options[option] }), {
          "aria-pressed": options[option],
        }),
      )}
      {button(words.previous, words.previousTitle, () => void search.previous())}
      {button(words.next, words.nextTitle, () => void search.next())}
      <button
        type="button"
        className="sbx-quiet"
        aria-label={words.closeTitle}
        title={words.closeTitle}
        onClick={close}
      >
        {words.close}
      </button>
    </div>
  );
}
