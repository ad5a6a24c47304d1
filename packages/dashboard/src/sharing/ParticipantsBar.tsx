// The line above the terminal: what it is, participants and who types as far as there is something to say, and this person's actions.

import { Keyboard as KeyboardIcon, Lock as LockIcon, ChevronRight as ProgramIcon, Share2 } from "lucide-react";
import { type CSSProperties, type ReactNode, useState } from "react";
import {
  colourIndex,
  keyboardStateOf,
  keyboardWords,
  mayGiveTo,
  nameOf,
  nameOrYours,
  otherDrivers,
  type Participant,
  type Participants,
  personKey,
  personsOf,
  soleTypistOf,
  yieldsKeyboard,
  yourAsk,
} from "sandbox-stdio/core";
import { useTexts } from "../texts/texts-context.ts";
import { TAKE_KEY } from "./hand-over-key.ts";
import { askedOf, type ParticipantsModel, type ParticipantsState } from "./participants-model.ts";

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
  /** Elements of the surrounding page, at the start and at the end. */
  readonly heading: ReactNode;
  readonly menu: ReactNode;
  /** Called after an action: the next keys are for the process. */
  readonly onDone: () => void;
};

export function ParticipantsBar(props: PeopleBarProps) {
  const { room, state, obstacle, isAdmin, isCreator, onShare, heading, menu, onDone } = props;
  const words = useTexts().people;
  const people = state?.people;
  const persons = people === undefined ? [] : personsOf(people);
  const colours = coloursOf(persons);
  const done =
    <Of extends unknown[]>(act: (...of: Of) => void) =>
    (...of: Of) => {
      act(...of);
      onDone();
    };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset belongs to a form.
    <div className="sbx-people" role="group" aria-label={words.label}>
      {heading}
      <ul className="sbx-who" aria-label={words.who} data-alone={(people?.participants.length ?? 1) < 2}>
        {people === undefined
          ? null
          : persons.map((windows, i) => (
              <Person
                key={windows[0] && personKey(windows[0])}
                people={people}
                windows={windows}
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
        <Keyboard
          people={people}
          obstacle={obstacle}
          refusedKeys={state?.refusedKeys ?? 0}
          hasRequested={state?.hasRequested ?? false}
          declinedBy={state?.declinedBy}
        >
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
        <button type="button" className="sbx-quiet sbx-share" onClick={onShare}>
          <Share2 size={16} aria-hidden /> {words.share}
        </button>
      )}
      {menu}
    </div>
  );
}

type PersonProps = {
  readonly people: Participants;
  readonly windows: readonly Participant[];
  /** Index of the person's colour. */
  readonly colour: number;
  readonly onGive: ((id: string) => void) | undefined;
};

/** A person with all windows, of which the first gives the name. */
function Person({ people, windows, colour, onGive }: PersonProps) {
  const { people: words, keyboard } = useTexts();
  const { id = "", kind = "person" } = windows[0] ?? {};
  const name = nameOf(people, id, words);
  const is = (which: string) => windows.some((window) => window.id === which);
  const isYou = is(people.you);
  const isHolder = is(soleTypistOf(people));
  const role = windows.some((window) => window.role === "driver") ? "driver" : "viewer";
  const typed = people.typed?.[id];
  const may = windows.map((window) => window.id).filter((window) => mayGiveTo(people, window));
  const receiver = may.find((window) => people.requests.includes(window)) ?? may[0];
  const count = windows.length > 1 ? words.windows(windows.length) : "";
  const facts = [
    isYou ? words.you : "",
    count,
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
      {people.participants.length < 2 ? null : (
        <Face name={count === "" ? name : `${name}, ${count}`} title={title}>
          {kind === "program" ? <ProgramIcon size={12} strokeWidth={3} /> : [...name][0]?.toUpperCase()}
        </Face>
      )}
      {typed === undefined ? null : (
        <code className="sbx-typed" aria-hidden="true">
          {typed}
        </code>
      )}
      <span className="sbx-unseen">{title}</span>
      {isHolder ? <KeyboardIcon size={16} aria-hidden /> : null}
      {onGive !== undefined && receiver !== undefined ? (
        <button
          type="button"
          className="sbx-quiet"
          title={keyboard.giveTo(nameOrYours(people, receiver, words))}
          aria-label={keyboard.giveTo(nameOrYours(people, receiver, words))}
          onClick={() => onGive(receiver)}
        >
          {keyboard.give}
        </button>
      ) : null}
    </li>
  );
}

type FaceProps = { readonly name: string; readonly title: string; readonly children: ReactNode };

/** A person's sign: pressed, it shows the whole name. */
function Face({ name, title, children }: FaceProps) {
  const words = useTexts().people;
  const [isWhole, setWhole] = useState(false);
  return (
    <button
      type="button"
      className="sbx-long"
      title={title}
      aria-label={words.wholeName(title)}
      aria-expanded={isWhole}
      onClick={() => setWhole(!isWhole)}
    >
      <span className="sbx-face" aria-hidden="true">
        {children}
      </span>
      <span className="sbx-name" aria-hidden="true">
        {name}
      </span>
    </button>
  );
}

type KeyboardProps = {
  readonly people: Participants;
  readonly obstacle: string | undefined;
  readonly refusedKeys: number;
  readonly hasRequested: boolean;
  readonly declinedBy: string | undefined;
  readonly children: ReactNode;
};

/** Looks like an input field, locked if nothing can be typed. */
function Keyboard({ people, obstacle, refusedKeys, hasRequested, declinedBy, children }: KeyboardProps) {
  const texts = useTexts().people;
  const keyboard = keyboardStateOf(people);
  const isOpen = obstacle === undefined && (keyboard === "shared" || keyboard === "yours");
  const [asked] = askedOf(people);
  const answer =
    declinedBy === undefined ? keyboardWords(people, texts) : texts.notNow(nameOf(people, declinedBy, texts));
  const waiting = () => texts.asked(asked === undefined ? texts.typists : nameOrYours(people, asked, texts));
  const words = obstacle ?? (isOpen ? keyboardWords(people, texts) : hasRequested ? waiting() : answer);
  // Nothing is special: the words are for a screen reader alone.
  const isQuiet = isOpen && (keyboard === "shared" || people.participants.length < 2);
  return (
    <div
      className="sbx-keyboard"
      data-keyboard={keyboard}
      data-open={isOpen}
      data-quiet={isQuiet}
      data-told={obstacle !== undefined}
    >
      {/* A new key restarts the animation each time that typed keys are refused. */}
      <span
        className="sbx-field"
        key={refusedKeys}
        data-refused={refusedKeys > 0}
        title={isOpen ? words : texts.readOnly(words)}
      >
        {isOpen ? <KeyboardIcon size={14} aria-hidden /> : <LockIcon size={14} aria-hidden />}
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
    // The ask itself offers it, with what the program is told.
    if (yourAsk(people) !== undefined) return null;
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
  const mayAsk = keyboard === "none" && otherDrivers(people).some(({ kind }) => kind !== "program");
  if (keyboard !== "taken" && !mayAsk) return null;
  return (
    <>
      <Button
        words={hasRequested ? words.askAgain : mayAsk ? words.askToType : words.ask}
        title={hasRequested ? words.askAgainTitle : words.askTitle}
        act={done(() => room.ask())}
        isPrimary={!hasRequested}
      />
      {mayTake && !mayAsk ? (
        <Button words={words.takeOver} title={words.takeOverTitle} act={done(() => room.take())} />
      ) : null}
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

export const COLOURS = 12;

/** A colour for each person in order of arrival, distinct as long as there are enough. Deterministic. */
export function coloursOf(persons: ReturnType<typeof personsOf>): number[] {
  const taken = new Set<number>();
  return persons.map(([first]) => {
    if (taken.size === COLOURS) taken.clear();
    let colour = colourIndex(first === undefined ? "" : personKey(first), COLOURS);
    while (taken.has(colour)) colour = (colour + 1) % COLOURS;
    taken.add(colour);
    return colour;
  });
}
