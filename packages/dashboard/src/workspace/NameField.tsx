// A field in which a person names a session, in place of its title.

import { useTexts } from "../texts/texts-context.ts";

/** For the whole name to be replaced by what is typed. */
function takeOver(field: HTMLInputElement | null): void {
  field?.focus();
  field?.select();
}

export type NameFieldProps = {
  readonly label: string;
  /** The name so far; "" for none. */
  readonly name: string;
  readonly placeholder?: string;
  /** undefined: unchanged. */
  readonly onName: (name: string | undefined) => void;
};

/** Enter and a press elsewhere take the name, Escape leaves it. */
export function NameField({ label, name, placeholder = label, onName }: NameFieldProps) {
  const rule = useTexts().desk.nameRule;
  return (
    <input
      className="sbx-name-field"
      type="text"
      aria-label={label}
      placeholder={placeholder}
      defaultValue={name}
      // Not a length at which typing would stop in silence.
      pattern=".{0,40}"
      title={rule}
      ref={takeOver}
      onBlur={({ currentTarget: { value } }) => onName(value === name ? undefined : value)}
      onClick={(event) => event.stopPropagation()}
      onDoubleClick={(event) => event.stopPropagation()}
      onKeyDown={(event) => {
        // A tab's keys, as Delete, are the field's here.
        event.stopPropagation();
        if (event.key !== "Enter" && event.key !== "Escape") return;
        // The field goes without a blur that would count.
        event.preventDefault();
        const { value } = event.currentTarget;
        if (event.key === "Escape" || value === name) onName(undefined);
        else if (event.currentTarget.reportValidity()) onName(value);
      }}
    />
  );
}
