// Over the terminal where there is nothing to see: why, and what helps.

import type { Remedy, Status } from "./status.ts";
import { useTexts } from "./texts-context.ts";

type RefusalCardProps = {
  readonly status: Status;
  readonly remedies: readonly Remedy[];
  readonly onRemedy: (remedy: Remedy) => void;
};

export function RefusalCard({ status, remedies, onRemedy }: RefusalCardProps) {
  const words = useTexts().remedy;
  return (
    <div className="sbx-veil">
      <div className="sbx-card" role="alert">
        <h1>{status.words}</h1>
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
