// The platform's configuration folder, which holds contexts and logins.

import fs from "node:fs";
import path from "node:path";

const NAME = "sbx-stdio";
const MIGRATED: readonly NodeJS.Platform[] = ["darwin", "win32"];

type System = {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** The folder. On macOS and Windows, what earlier versions kept in `~/.config` is moved there once. */
export function configFolder({ platform, home, env }: System): string {
  const folder = path.join(env.XDG_CONFIG_HOME || platformFolder({ platform, home, env }), NAME);
  if (env.XDG_CONFIG_HOME || !MIGRATED.includes(platform)) return folder;
  const early = path.join(home, ".config", NAME);
  if (folder === early || fs.existsSync(folder) || !fs.existsSync(early)) return folder;
  try {
    fs.mkdirSync(path.dirname(folder), { recursive: true });
    fs.renameSync(early, folder);
  } catch {
    // Another run moved it just now, or it can't be moved: then the old folder stays in use.
    return fs.existsSync(folder) ? folder : early;
  }
  return folder;
}

function platformFolder({ platform, home, env }: System): string {
  if (platform === "darwin") return path.join(home, "Library", "Application Support");
  if (platform === "win32") return env.APPDATA || path.join(home, "AppData", "Roaming");
  return path.join(home, ".config");
}
