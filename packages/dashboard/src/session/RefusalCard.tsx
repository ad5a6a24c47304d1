// Why the session can't be reached, and the remedies: over the terminal before anything was shown, else in the corner.

import type { Remedy, Status } from "../connection/status.ts";
import { useTexts } from "../texts/texts-context.ts";

type RefusalCardProps = {
  readonly status: Status;
  readonly remedies: readonly Remedy[];
  readonly onRemedy: (remedy: Remedy) => void;
  /** Whether something was on the screen, which must stay visible. */
  readonly hasBegun: boolean;
};

export function RefusalCard({ status, remedies, onRemedy, hasBegun }: RefusalCardProps) {
  const words = useTexts().remedy;
  return (
    <div className={hasBegun ? "sbx-corner" : "sbx-veil"}>
      <div className={hasBegun ? "sbx-toast sbx-refusal" : "sbx-card"} role="alert">
        <h2>{status.words}</h2>
        <p>{status.detail}</p>
        {remedies.map((remedy, i) => (
          <button
            type="button"
            className={i === 0 ? "sbx-button sbx-primary" : "sbx-button"}
            key={remedy}
            onClick={() => onRemedy(remedy)}
          >
            {words[remedy]}
          </button>
        ))}
      </div>
    </div>
  );
}
