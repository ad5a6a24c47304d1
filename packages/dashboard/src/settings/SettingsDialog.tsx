// A person's settings for every terminal. Draws the preferences, and reports each change at once.

import { type ChangeEvent, type ReactNode, useId, useState } from "react";
import { mayNotify } from "../output/browser-alerts.ts";
import { FONT_FAMILY, schemeUnder, THEMES } from "../terminal/theme.ts";
import { MAX_THEME_LENGTH, readTheme, type ThemeFile } from "../terminal/theme-import.ts";
import { useScheme } from "../terminal/use-scheme.ts";
import { useTexts } from "../texts/texts-context.ts";
import { Dialog } from "../ui/Dialog.tsx";
import {
  exportPreferences,
  FONT_SIZES,
  importPreferences,
  LINE_HEIGHTS,
  type Preferences,
  SCROLLBACKS,
} from "./preferences.ts";
import { GALLERY } from "./theme-gallery.ts";

export type SettingsDialogProps = {
  readonly preferences: Preferences;
  readonly onChange: (change: Partial<Preferences>) => void;
  readonly onKeys: () => void;
  readonly onClose: () => void;
};

type FlagName = { [Name in keyof Preferences]: Preferences[Name] extends boolean ? Name : never }[keyof Preferences];

export function SettingsDialog({ preferences, onChange, onKeys, onClose }: SettingsDialogProps) {
  const words = useTexts().settings;
  const [problem, setProblem] = useState("");
  const { theme } = preferences;

  /** Notifications need the browser's permission, which it asks for at a click. */
  const notify = async (name: "bellNotifies" | "programsNotify", isOn: boolean) => {
    const may = !isOn || (await mayNotify());
    setProblem(may ? "" : words.noticesForbidden);
    if (may) onChange({ [name]: isOn });
  };
  const importTheme = async (file: File) => {
    const read = file.size > MAX_THEME_LENGTH ? undefined : readTheme(file.name, await file.text());
    setProblem(read === undefined ? words.noTheme(file.name) : "");
    if (read !== undefined) onChange({ theme: read });
  };
  const importAll = async (file: File) => {
    const read = file.size > MAX_THEME_LENGTH ? undefined : importPreferences(await file.text());
    setProblem(read === undefined ? words.noPreferences(file.name) : "");
    if (read !== undefined) onChange(read);
  };
  const flag = (name: FlagName) => (
    <Flag
      label={words.flags[name]}
      isOn={preferences[name]}
      onChange={(isOn) =>
        name === "bellNotifies" || name === "programsNotify" ? void notify(name, isOn) : onChange({ [name]: isOn })
      }
    />
  );

  const number = (name: "fontSize" | "lineHeight" | "scrollback", range: Range) => (
    <NumberSetting
      label={words[name]}
      value={preferences[name]}
      {...range}
      onChange={(value) => onChange({ [name]: value })}
    />
  );

  return (
    <Dialog title={words.title} onClose={onClose} className="sbx-settings">
      <Preview preferences={preferences} />
      <div className="sbx-settings-groups">
        <Group title={words.type}>
          <FontFamily value={preferences.fontFamily} onChange={(fontFamily) => onChange({ fontFamily })} />
          {number("fontSize", { ...FONT_SIZES, step: 1 })}
          {number("lineHeight", { ...LINE_HEIGHTS, step: 0.05 })}
          {flag("hasLigatures")}
          <Choice
            label={words.cursor}
            value={preferences.cursorStyle}
            choices={words.cursors}
            onChange={(cursorStyle) => onChange({ cursorStyle })}
          />
          {flag("cursorBlinks")}
          {number("scrollback", { ...SCROLLBACKS, step: 1_000 })}
        </Group>
        <Group title={words.colours}>
          <Choice
            label={words.scheme}
            value={preferences.scheme}
            choices={words.schemes}
            // A theme would hide the choice.
            onChange={(scheme) => onChange({ scheme, theme: undefined })}
          />
          <ThemeGallery chosen={theme?.name} onChoose={(theme) => onChange({ theme })} />
          <p className="sbx-setting">
            <span role="status">{theme === undefined ? words.noOwnTheme : words.ownTheme(theme.name)}</span>
            <FileButton
              label={words.importTheme}
              accept=".itermcolors,.json,.jsonc"
              onFile={(file) => void importTheme(file)}
            />
            {theme === undefined ? null : (
              <button type="button" className="sbx-button" onClick={() => onChange({ theme: undefined })}>
                {words.removeTheme}
              </button>
            )}
          </p>
        </Group>
        <Group title={words.attention}>
          {flag("bellSounds")}
          {flag("bellFlashes")}
          {flag("bellNotifies")}
          {flag("programsNotify")}
        </Group>
        <Group title={words.behaviour}>
          {flag("warnsOnClose")}
          {flag("isReader")}
          {flag("isOptionMeta")}
          <p className="sbx-setting">
            <span>{words.keys}</span>
            <button type="button" className="sbx-button" onClick={onKeys}>
              {words.changeKeys}
            </button>
          </p>
          <Choice
            label={words.prediction}
            hint={words.predictionWarning}
            value={preferences.prediction}
            choices={words.predictions}
            onChange={(prediction) => onChange({ prediction })}
          />
        </Group>
      </div>
      <p className="sbx-problem" role="status">
        {problem}
      </p>
      <div className="sbx-answers">
        <a
          className="sbx-button"
          download="sbx-stdio-preferences.json"
          href={`data:application/json,${encodeURIComponent(exportPreferences(preferences))}`}
        >
          {words.exportAll}
        </a>
        <FileButton label={words.importAll} accept=".json" onFile={(file) => void importAll(file)} />
        <button type="button" className="sbx-button sbx-primary" onClick={onClose}>
          {words.close}
        </button>
      </div>
    </Dialog>
  );
}

type Range = { readonly min: number; readonly max: number; readonly step: number };

/** A few words as the terminal draws them now. */
function Preview({ preferences }: { readonly preferences: Preferences }) {
  const words = useTexts().settings;
  const { theme, fontFamily, fontSize, lineHeight, scheme } = preferences;
  const seen = useScheme(scheme);
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const under = schemeUnder(theme?.colours, seen === "system" ? system : seen);
  const colours = { ...THEMES[under], ...theme?.colours };
  const { background: backgroundColor, foreground: color } = colours;
  const font = fontFamily === "" ? FONT_FAMILY : `${fontFamily}, ${FONT_FAMILY}`;
  return (
    <pre
      className="sbx-preview-text"
      role="img"
      aria-label={words.preview}
      style={{ backgroundColor, color, fontFamily: font, fontSize, lineHeight: lineHeight * 1.2 }}
    >
      {words.sample.map(([colour, text]) => (
        <span key={text} style={{ color: colours[colour] }}>
          {text}
        </span>
      ))}
      <span style={{ backgroundColor: colours.cursor }}> </span>
    </pre>
  );
}

type ThemeGalleryProps = {
  readonly chosen: string | undefined;
  readonly onChoose: (theme: ThemeFile) => void;
};

function ThemeGallery({ chosen, onChoose }: ThemeGalleryProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw a frame inside another.
    <div className="sbx-gallery" role="group" aria-label={useTexts().settings.gallery}>
      {GALLERY.map((theme) => {
        const { background: backgroundColor, ...rest } = theme.colours;
        return (
          <button type="button" key={theme.name} aria-pressed={theme.name === chosen} onClick={() => onChoose(theme)}>
            <span className="sbx-swatch" aria-hidden="true" style={{ backgroundColor }}>
              {([rest.red, rest.green, rest.yellow, rest.blue, rest.magenta, rest.cyan] as const).map((dot) => (
                <i key={dot} style={{ backgroundColor: dot }} />
              ))}
            </span>
            {theme.name}
          </button>
        );
      })}
    </div>
  );
}

function Group({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <fieldset className="sbx-settings-group">
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}

type FlagProps = { readonly label: string; readonly isOn: boolean; readonly onChange: (isOn: boolean) => void };

function Flag({ label, isOn, onChange }: FlagProps) {
  return (
    <label className="sbx-setting">
      <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.target.checked)} />
      <span>{label}</span>
    </label>
  );
}

type NumberProps = Range & {
  readonly label: string;
  readonly value: number;
  readonly onChange: (value: number) => void;
};

function NumberSetting({ label, value, onChange, ...range }: NumberProps) {
  return (
    <label className="sbx-setting">
      <span>{label}</span>
      <input
        type="number"
        {...range}
        value={value}
        onChange={(event) => {
          // An unfinished number may be out of range.
          if (event.target.validity.valid) onChange(event.target.valueAsNumber);
        }}
      />
    </label>
  );
}

type ChoiceProps<Value extends string> = {
  readonly label: string;
  readonly hint?: string;
  readonly value: Value;
  readonly choices: Readonly<Record<Value, string>>;
  readonly onChange: (value: Value) => void;
};

function Choice<Value extends string>({ label, hint, value, choices, onChange }: ChoiceProps<Value>) {
  const values = Object.keys(choices) as Value[];
  return (
    <label className="sbx-setting">
      <span>{label}</span>
      <select
        value={value}
        onChange={(event) => {
          const chosen = values.find((each) => each === event.target.value);
          if (chosen !== undefined) onChange(chosen);
        }}
      >
        {values.map((each) => (
          <option key={each} value={each}>
            {choices[each]}
          </option>
        ))}
      </select>
      {hint === undefined ? null : <small>{hint}</small>}
    </label>
  );
}

/** Reports the font when the field is left or Enter is pressed, not while it is typed. */
function FontFamily({ value, onChange }: { readonly value: string; readonly onChange: (value: string) => void }) {
  const words = useTexts().settings;
  return (
    <label className="sbx-setting">
      <span>{words.fontFamily}</span>
      <input
        type="text"
        key={value}
        defaultValue={value}
        placeholder={words.usualFonts}
        spellCheck={false}
        onBlur={(event) => event.target.value !== value && onChange(event.target.value)}
        onKeyDown={(event) => event.key === "Enter" && onChange(event.currentTarget.value)}
      />
    </label>
  );
}

type FileButtonProps = {
  readonly label: string;
  readonly accept: string;
  readonly onFile: (file: File) => void;
};

function FileButton({ label, accept, onFile }: FileButtonProps) {
  const id = useId();
  const chosen = ({ target }: ChangeEvent<HTMLInputElement>) => {
    const file = target.files?.[0];
    // Choosing the same file again must count.
    target.value = "";
    if (file !== undefined) onFile(file);
  };
  return (
    <>
      <input className="sbx-file" id={id} type="file" accept={accept} onChange={chosen} />
      <label className="sbx-button" htmlFor={id}>
        {label}
      </label>
    </>
  );
}
