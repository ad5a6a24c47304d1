// The line above the terminal: who is here, who types, and what this person can do about it. It draws what it is given.

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
import { colourOf } from "./colours.ts";
import { TAKE_KEY } from "./hand-over-key.ts";
import type { ParticipantsModel, ParticipantsState } from "./participants-model.ts";

/** A name of so many characters is never cut, however wide they are: see `.sbx-name`. */
const SHORT_NAME = 8;

export type PeopleBarProps = {
  readonly room: ParticipantsModel | undefined;
  readonly state: ParticipantsState | undefined;
  /** Why nobody can type just now, whoever has the keyboard; undefined where the session takes input. */
  readonly obstacle: string | undefined;
  /** Whether the keyboard can be taken without asking. */
  readonly isAdmin: boolean;
  readonly onShare: (() => void) | undefined;
};

export function ParticipantsBar({ room, state, obstacle, isAdmin, onShare }: PeopleBarProps) {
  const people = state?.people;
  return (
    <section className="sbx-people" aria-label="People">
      <ul className="sbx-who" aria-label="Who is here">
        {people?.participants.map((participant) => (
          <Person
            key={participant.id}
            people={people}
            participant={participant}
            onGive={obstacle === undefined ? (id) => room?.give(id) : undefined}
          />
        ))}
      </ul>
      <span className="sbx-unseen" aria-live="polite" aria-atomic="true">
        {/* Another element each time, so that the same words are said again. */}
        <span key={state?.news.count}>{state?.news.text}</span>
      </span>
      {people === undefined ? null : (
        <Keyboard people={people} obstacle={obstacle} refusedKeys={state?.refusedKeys ?? 0}>
          {obstacle === undefined && room !== undefined ? (
            <KeyboardButtons room={room} people={people} hasAsked={state?.hasAsked ?? false} isAdmin={isAdmin} />
          ) : null}
        </Keyboard>
      )}
      {onShare === undefined ? null : (
        <button type="button" className="sbx-button sbx-share" onClick={onShare}>
          Share
        </button>
      )}
    </section>
  );
}

type PersonProps = {
  readonly people: Participants;
  readonly participant: Participant;
  readonly onGive: ((id: string) => void) | undefined;
};

function Person({ people, participant, onGive }: PersonProps) {
  const { id, role, kind = "person" } = participant;
  const name = nameOf(people, id);
  const isYou = id === people.you;
  const isHolder = id === soleTypistOf(people);
  const isReceiver = keyboardStateOf(people) === "yours" && otherDrivers(people).includes(participant);
  const typed = people.typed?.[id];
  const facts = [
    isYou ? "you" : "",
    role === "viewer" ? "viewer" : "",
    isHolder ? "has the keyboard" : "",
    typed === undefined ? "" : `typed ${typed}`,
  ];
  const title = [name, ...facts.filter((fact) => fact !== "")].join(", ");
  const style: CSSProperties & Record<"--who", string> = { "--who": colourOf(id) };
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
        {isYou ? <small> you</small> : null}
        {role === "viewer" ? <small> viewer</small> : null}
        {typed === undefined ? null : <code className="sbx-typed"> {typed}</code>}
      </Name>
      <span className="sbx-unseen">{title}</span>
      {isHolder ? <KeyboardIcon /> : null}
      {isReceiver && onGive !== undefined ? (
        <button
          type="button"
          className="sbx-quiet"
          title={`Give the keyboard to ${name}`}
          aria-label={`Give the keyboard to ${name}`}
          onClick={() => onGive(id)}
        >
          Give
        </button>
      ) : null}
    </li>
  );
}

type NameProps = { readonly name: string; readonly title: string; readonly children: ReactNode };

/** A name that may be cut is a button: pressed or reached by the keyboard, it shows the whole name. */
function Name({ name, title, children }: NameProps) {
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
      aria-label={`The whole name: ${name}`}
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

/** Looks like a field to type in, and like one that is locked where nothing can be typed. */
function Keyboard({ people, obstacle, refusedKeys, children }: KeyboardProps) {
  const keyboard = keyboardStateOf(people);
  const isOpen = obstacle === undefined && (keyboard === "shared" || keyboard === "yours");
  const words = obstacle ?? keyboardWords(people);
  return (
    <div className="sbx-keyboard" data-keyboard={keyboard} data-open={isOpen}>
      {/* A new key each time that somebody types in vain: the animation starts again. */}
      <span
        className="sbx-field"
        key={refusedKeys}
        data-refused={refusedKeys > 0}
        title={isOpen ? words : `Read only: ${words}`}
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
  readonly people: Participants;
  readonly hasAsked: boolean;
  readonly isAdmin: boolean;
};

function KeyboardButtons({ room, people, hasAsked, isAdmin }: KeyboardButtonsProps) {
  const keyboard = keyboardStateOf(people);
  if (keyboard === "yours")
    return <Button words="Release" title="Let somebody else take the keyboard" act={() => room.release()} />;
  if (keyboard === "free") return <Button words="Take it" title="Take the keyboard" act={() => room.ask()} isPrimary />;
  if (yieldsKeyboard(people)) {
    const title = "A program has the keyboard: it is yours at once";
    return <Button words={`Take it (${TAKE_KEY})`} title={title} act={() => room.ask()} isPrimary />;
  }
  if (keyboard !== "taken") return null;
  return (
    <>
      <Button
        words={hasAsked ? "Ask again" : "Ask"}
        title={hasAsked ? "You have asked for the keyboard" : "Ask for the keyboard"}
        act={() => room.ask()}
        isPrimary={!hasAsked}
      />
      {isAdmin ? <Button words="Take over" title="Take the keyboard without asking" act={() => room.take()} /> : null}
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

/** A prompt: no face that a person has. */
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
