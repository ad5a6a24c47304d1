// Programs that ask for a person, over the terminal: who asks, what for, and this person's answer. The participants' bar announces them.

import { nameOf, type OpenAsk, type Participants } from "sandbox-stdio/core";
import { useTexts } from "../texts/texts-context.ts";
import type { AskAct, ParticipantsModel } from "./participants-model.ts";

type AsksProps = {
  readonly room: ParticipantsModel;
  readonly people: Participants;
  readonly onDone: () => void;
};

export function Asks({ room, people, onDone }: AsksProps) {
  if (!room.mayDrive) return null;
  const act = (what: AskAct, id: string) => () => {
    room.answer(what, id);
    onDone();
  };
  return people.asks.map((ask) => <AskToast key={ask.id} ask={ask} people={people} act={act} />);
}

type AskToastProps = {
  readonly ask: OpenAsk;
  readonly people: Participants;
  readonly act: (what: AskAct, id: string) => () => void;
};

function AskToast({ ask: { id, writer, reason, secret, by }, people, act }: AskToastProps) {
  const { ask: words, people: texts } = useTexts();
  const isYours = by === people.you;
  const isShown = isYours && secret && people.echo;
  return (
    <section className="sbx-toast sbx-ask" aria-label={texts.asksPerson(writer, reason)}>
      <p>{words.asks(writer)}</p>
      <p className="sbx-reason">{reason}</p>
      {secret ? <p>{isYours ? words.secretNow : words.secret}</p> : null}
      {/* There from the start, so that it is announced when it gets its text. */}
      {isYours ? <p role="status">{isShown ? words.echo : ""}</p> : null}
      {by === undefined || isYours ? (
        <div className="sbx-answers">
          <button
            type="button"
            className="sbx-button sbx-primary"
            title={isYours ? words.giveBackTitle : words.takeTitle}
            onClick={act(isYours ? "give-back" : "take", id)}
          >
            {isYours ? words.giveBack : words.take}
          </button>
          <button type="button" className="sbx-button" title={words.declineTitle} onClick={act("decline", id)}>
            {words.decline}
          </button>
        </div>
      ) : (
        <p>{words.taken(nameOf(people, by, texts))}</p>
      )}
    </section>
  );
}
