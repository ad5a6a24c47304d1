// A field in which a person names a session, in place of its title.

/** For the whole name to be replaced by what is typed. */
function takeOver(field: HTMLInputElement | null): void {
  field?.focus();
  field?.select();
}

export type NameFieldProps = {
  readonly label: string;
  readonly title: string;
  readonly placeholder?: string;
  /** undefined: unchanged. */
  readonly onName: (name: string | undefined) => void;
};

/** Enter and a press elsewhere take the name, Escape leaves it. */
export function NameField({ label, title, placeholder = title, onName }: NameFieldProps) {
  return (
    <input
      className="sbx-name-field"
      type="text"
      aria-label={label}
      placeholder={placeholder}
      defaultValue={title}
      maxLength={40}
      ref={takeOver}
      onBlur={({ currentTarget: { value } }) => onName(value === title ? undefined : value)}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== "Escape") return;
        // The field goes without a blur that would count.
        event.preventDefault();
        event.stopPropagation();
        const { value } = event.currentTarget;
        onName(event.key === "Escape" || value === title ? undefined : value);
      }}
    />
  );
}
