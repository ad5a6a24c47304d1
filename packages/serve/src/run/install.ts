// Writes the file by which systemd or launchd keeps a server running. Switches nothing on: a person does, with the printed line.
import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { ServeError } from "../base/refusal.ts";

export type Service = {
  readonly port: number;
  /** The program and its words, each as it is. */
  readonly command: readonly string[];
  readonly dir: string;
  readonly isRoot: boolean;
  /** Where programs are found. */
  readonly path: string;
};

export type ServiceFile = { readonly path: string; readonly text: string; readonly switchOn: string };

/** A word of ExecStart: systemd reads quotes, backslashes, percent signs and dollars. */
const unitWord = (word: string): string =>
  `"${word.replace(/[\\"]/g, "\\$&").replace(/[%$]/g, "$&$&").replaceAll("\n", "\\n")}"`;

export function systemdUnit({ port, command, dir, isRoot, path }: Service, home = homedir()): ServiceFile {
  const name = `sbx-stdio-${port}.service`;
  const folder = isRoot ? "/etc/systemd/system" : join(home, ".config/systemd/user");
  const control = isRoot ? "systemctl" : "systemctl --user";
  const text = `[Unit]
Description=sbx-stdio serve, port ${port}
After=network-online.target

[Service]
WorkingDirectory=${dir.replaceAll("%", "%%")}
Environment=${unitWord(`PATH=${path}`)}
ExecStart=${command.map(unitWord).join(" ")}
# The bridge and its sessions outlive the server, which finds them again.
KillMode=process
Restart=on-failure

[Install]
WantedBy=${isRoot ? "multi-user.target" : "default.target"}
`;
  const linger = isRoot ? "" : `; without it, what runs ends with your last login: loginctl enable-linger`;
  return { path: join(folder, name), text, switchOn: `${control} enable --now ${name}${linger}` };
}

const XML: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const xml = (text: string): string => `<string>${text.replace(/[&<>]/g, (character) => XML[character] ?? "")}</string>`;

export function launchdFile({ port, command, dir, isRoot, path }: Service, home = homedir()): ServiceFile {
  const label = `sbx-stdio-${port}`;
  const file = join(isRoot ? "/Library/LaunchDaemons" : join(home, "Library/LaunchAgents"), `${label}.plist`);
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>${xml(label)}
  <key>ProgramArguments</key><array>${command.map(xml).join("")}</array>
  <key>WorkingDirectory</key>${xml(dir)}
  <key>EnvironmentVariables</key><dict><key>PATH</key>${xml(path)}</dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>AbandonProcessGroup</key><true/>
</dict>
</plist>
`;
  return { path: file, text, switchOn: `launchctl bootstrap ${isRoot ? "system" : "gui/$UID"} ${file}` };
}

/** @returns What is said to the person. @throws {ServeError} For a name that could add lines to the file. */
export function install(service: Service): string {
  const odd = [service.dir, service.path, ...service.command].find((word) => /\p{Cc}/u.test(word));
  if (odd !== undefined) throw new ServeError(`A service can't have control characters in ${JSON.stringify(odd)}`);
  const { path, text, switchOn } = (process.platform === "darwin" ? launchdFile : systemdUnit)(service);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return `Wrote ${path}. To start it now and at each login or boot: ${switchOn}`;
}
