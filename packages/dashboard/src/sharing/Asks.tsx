// Programs that ask for a person, over the terminal: who asks, what for, and this person's answer. The participants' bar announces them.

import { EyeOff } from "lucide-react";
import { nameOrYours, type Participants } from "sandbox-stdio/core";
import { useTexts } from "../texts/texts-context.ts";
import type { AskAct, ParticipantsModel } from "./participants-model.ts";

type AsksProps = {
  readonly room: ParticipantsModel;
  readonly people: Participants;
  readonly onDone: () => void;
};

export function Asks({ room, people, onDone }: AsksProps) {
  const { ask: words, people: texts } = useTexts();
  return people.asks.map(({ id, writer, reason, secret, by }) => {
    const isYours = by === people.you;
    const button = (act: AskAct, text: Exclude<AskAct, "back"> | "done" | "undone") => ({
      type: "button" as const,
      title: words.title[act],
      children: words[text],
      onClick: () => {
        room.answer(act, id);
        onDone();
      },
    });
    return (
      <section className="sbx-toast" key={id} aria-label={texts.asksPerson(writer, reason)}>
        <p>{words.asks(writer)}</p>
        <p className="sbx-reason">{reason}</p>
        {secret ? <p>{isYours ? words.secretNow : words.secret}</p> : null}
        {/* There from the start, so that it is announced when it gets its text. */}
        {isYours ? (
          <p role="status" className="sbx-warning">
            {secret && people.echo ? (
              <>
                <EyeOff size={14} aria-hidden /> {words.echo}
              </>
            ) : null}
          </p>
        ) : null}
        {by === undefined || isYours ? (
          <div className="sbx-answers">
            <button
              className="sbx-button sbx-primary"
              {...(isYours ? button("back", "done") : button("take", "take"))}
            />
            <button className="sbx-button" {...button("decline", isYours ? "undone" : "decline")} />
          </div>
        ) : (
          <p>{words.taken(nameOrYours(people, by, texts, true))}</p>
        )}
      </section>
    );
  });
}
