// The bar above the terminal: participants, who types, and this person's actions.

import { type CSSProperties, type ReactNode, useState } from "react";
import {
  keyboardStateOf,
  keyboardWords,
  nameOf,
  otherDrivers,
  type Participant,
  type Participants,
  soleTypistOf,
  yieldsKeyboard,
} from "sandbox-stdio/core";
import { useTexts } from "../texts/texts-context.ts";
import { coloursOf } from "../ui/colours.ts";
import { TAKE_KEY } from "./hand-over-key.ts";
import type { ParticipantsModel, ParticipantsState } from "./participants-model.ts";

/** Names up to this length are never cut: see `.sbx-name`. */
const SHORT_NAME = 8;

export type PeopleBarProps = {
  readonly room: ParticipantsModel | undefined;
  readonly state: ParticipantsState | undefined;
  /** Why nobody can type now; undefined if the session accepts input. */
  readonly obstacle: string | undefined;
  /** Whether this person may take the keyboard without asking. */
  readonly isAdmin: boolean;
  /** Whether this person created the session, and may take the keyboard from a holder that vanished. */
  readonly isCreator: boolean;
  readonly onShare: (() => void) | undefined;
  /** Called after an action: the next keys are for the process. */
  readonly onDone: () => void;
};

export function ParticipantsBar({ room, state, obstacle, isAdmin, isCreator, onShare, onDone }: PeopleBarProps) {
  const words = useTexts().people;
  const people = state?.people;
  const colours = coloursOf(people?.participants ?? []);
  const done =
    <Of extends unknown[]>(act: (...of: Of) => void) =>
    (...of: Of) => {
      act(...of);
      onDone();
    };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset belongs to a form.
    <div className="sbx-people" role="group" aria-label={words.label}>
      <ul className="sbx-who" aria-label={words.who}>
        {people?.participants.map((participant, i) => (
          <Person
            key={participant.id}
            people={people}
            participant={participant}
            colour={colours[i] ?? 0}
            onGive={obstacle === undefined ? done((id: string) => room?.give(id)) : undefined}
          />
        ))}
      </ul>
      <span className="sbx-unseen" aria-live="polite" aria-atomic="true">
        {/* A new element each time, so that a repeated text is announced again. */}
        <span key={state?.notice.count}>{state?.notice.text}</span>
      </span>
      {people === undefined ? null : (
        <Keyboard people={people} obstacle={obstacle} refusedKeys={state?.refusedKeys ?? 0}>
          {obstacle === undefined && room !== undefined ? (
            <KeyboardButtons
              room={room}
              done={done}
              people={people}
              hasRequested={state?.hasRequested ?? false}
              mayTake={isAdmin || (isCreator && state?.hasRequested === true)}
            />
          ) : null}
        </Keyboard>
      )}
      {onShare === undefined ? null : (
        <button type="button" className="sbx-button sbx-share" onClick={onShare}>
          {words.share}
        </button>
      )}
    </div>
  );
}

type PersonProps = {
  readonly people: Participants;
  readonly participant: Participant;
  /** Index of the participant's colour. */
  readonly colour: number;
  readonly onGive: ((id: string) => void) | undefined;
};

function Person({ people, participant, colour, onGive }: PersonProps) {
  const { people: words, keyboard } = useTexts();
  const { id, role, kind = "person" } = participant;
  const name = nameOf(people, id, words);
  const isYou = id === people.you;
  const isHolder = id === soleTypistOf(people);
  const isReceiver = keyboardStateOf(people) === "yours" && otherDrivers(people).includes(participant);
  const typed = people.typed?.[id];
  const facts = [
    isYou ? words.you : "",
    role === "viewer" ? words.isViewer : "",
    isHolder ? words.hasKeyboard : "",
    typed === undefined ? "" : words.typed(typed),
  ];
  const title = [name, ...facts.filter((fact) => fact !== "")].join(", ");
  const style: CSSProperties & Record<"--who", string> = { "--who": `var(--_who-${colour})` };
  return (
    <li
      className="sbx-person"
      style={style}
      data-id={id}
      data-role={role}
      data-kind={kind}
      data-holder={isHolder}
      data-you={isYou}
    >
      <span className="sbx-face" aria-hidden="true">
        {kind === "program" ? <ProgramIcon /> : [...name][0]?.toUpperCase()}
      </span>
      <Name name={name} title={title}>
        {isYou ? <small> {words.you}</small> : null}
        {role === "viewer" ? <small> {words.isViewer}</small> : null}
      </Name>
      {typed === undefined ? null : (
        <code className="sbx-typed" aria-hidden="true">
          {typed}
        </code>
      )}
      <span className="sbx-unseen">{title}</span>
      {isHolder ? <KeyboardIcon /> : null}
      {isReceiver && onGive !== undefined ? (
        <button
          type="button"
          className="sbx-quiet"
          title={keyboard.giveTo(name)}
          aria-label={keyboard.giveTo(name)}
          onClick={() => onGive(id)}
        >
          {keyboard.give}
        </button>
      ) : null}
    </li>
  );
}

type NameProps = { readonly name: string; readonly title: string; readonly children: ReactNode };

/** A long name is a button that shows it in full. */
function Name({ name, title, children }: NameProps) {
  const words = useTexts().people;
  const [isWhole, setWhole] = useState(false);
  if ([...name].length <= SHORT_NAME) {
    return (
      <span className="sbx-name" title={title} aria-hidden="true">
        {name}
        {children}
      </span>
    );
  }
  return (
    <button
      type="button"
      className="sbx-name sbx-long"
      title={title}
      aria-label={words.wholeName(title)}
      aria-expanded={isWhole}
      onClick={() => setWhole(!isWhole)}
    >
      {name}
      {children}
    </button>
  );
}

type KeyboardProps = {
  readonly people: Participants;
  readonly obstacle: string | undefined;
  readonly refusedKeys: number;
  readonly children: ReactNode;
};

/** Looks like an input field, locked if nothing can be typed. */
function Keyboard({ people, obstacle, refusedKeys, children }: KeyboardProps) {
  const texts = useTexts().people;
  const keyboard = keyboardStateOf(people);
  const isOpen = obstacle === undefined && (keyboard === "shared" || keyboard === "yours");
  const words = obstacle ?? keyboardWords(people, texts);
  return (
    <div className="sbx-keyboard" data-keyboard={keyboard} data-open={isOpen}>
      {/* A new key restarts the animation each time that typed keys are refused. */}
      <span
        className="sbx-field"
        key={refusedKeys}
        data-refused={refusedKeys > 0}
        title={isOpen ? words : texts.readOnly(words)}
      >
        {isOpen ? <KeyboardIcon /> : <LockIcon />}
        <span className="sbx-field-words">{words}</span>
      </span>
      {children}
    </div>
  );
}

type KeyboardButtonsProps = {
  readonly room: ParticipantsModel;
  readonly done: (act: () => void) => () => void;
  readonly people: Participants;
  readonly hasRequested: boolean;
  readonly mayTake: boolean;
};

function KeyboardButtons({ room, done, people, hasRequested, mayTake }: KeyboardButtonsProps) {
  const words = useTexts().keyboard;
  const keyboard = keyboardStateOf(people);
  if (keyboard === "yours") {
    return <Button words={words.release} title={words.releaseTitle} act={done(() => room.release())} />;
  }
  if (keyboard === "free") {
    return <Button words={words.takeIt} title={words.takeItTitle} act={done(() => room.ask())} isPrimary />;
  }
  if (yieldsKeyboard(people)) {
    return (
      <Button words={words.takeItWith(TAKE_KEY)} title={words.yieldTitle} act={done(() => room.ask())} isPrimary />
    );
  }
  if (keyboard !== "taken") return null;
  return (
    <>
      <Button
        words={hasRequested ? words.askAgain : words.ask}
        title={hasRequested ? words.askAgainTitle : words.askTitle}
        act={done(() => room.ask())}
        isPrimary={!hasRequested}
      />
      {mayTake ? <Button words={words.takeOver} title={words.takeOverTitle} act={done(() => room.take())} /> : null}
    </>
  );
}

type ButtonProps = {
  readonly words: string;
  readonly title: string;
  readonly act: () => void;
  readonly isPrimary?: boolean;
};

function Button({ words, title, act, isPrimary = false }: ButtonProps) {
  return (
    <button type="button" className={isPrimary ? "sbx-button sbx-primary" : "sbx-button"} title={title} onClick={act}>
      {words}
    </button>
  );
}

/** A prompt, for programs. */
function ProgramIcon() {
  return (
    <svg className="sbx-icon" viewBox="0 0 14 14" aria-hidden="true">
      <path d="M3 4l3 3-3 3M7.5 10.5h3.5" />
    </svg>
  );
}

function KeyboardIcon() {
  return (
    <svg className="sbx-icon" viewBox="0 0 20 14" aria-hidden="true">
      <path d="M2 1h16a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H2a1 1 0 0 1-1-1V2a1 1 0 0 1 1-1zM4 4.5h1M8 4.5h1M12 4.5h1M15.5 4.5h.5M4 7.5h1M8 7.5h1M12 7.5h1M15.5 7.5h.5M6 10.5h8" />
    </svg>
  );
}

function LockIcon() {
  return (
    <svg className="sbx-icon" viewBox="0 0 14 14" aria-hidden="true">
      <path d="M3 6.5h8v6H3zM4.5 6.5V4a2.5 2.5 0 0 1 5 0v2.5" />
    </svg>
  );
}
