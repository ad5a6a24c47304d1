// Where contexts and logins are kept: in the platform's folder for configuration. Reads no file's content.

import fs from "node:fs";
import path from "node:path";

const NAME = "sbx-stdio";
const MOVED_ON: readonly NodeJS.Platform[] = ["darwin", "win32"];

type Surroundings = {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** The folder. What earlier versions kept in `~/.config` on macOS and Windows is moved there once. */
export function configFolder({ platform, home, env }: Surroundings): string {
  const folder = path.join(env.XDG_CONFIG_HOME || platformFolder({ platform, home, env }), NAME);
  if (env.XDG_CONFIG_HOME || !MOVED_ON.includes(platform)) return folder;
  const early = path.join(home, ".config", NAME);
  if (folder === early || fs.existsSync(folder) || !fs.existsSync(early)) return folder;
  try {
    fs.mkdirSync(path.dirname(folder), { recursive: true });
    fs.renameSync(early, folder);
  } catch {
    // Another run has moved it just now, or it can't be moved: then it goes on where it is.
    return fs.existsSync(folder) ? folder : early;
  }
  return folder;
}

function platformFolder({ platform, home, env }: Surroundings): string {
  if (platform === "darwin") return path.join(home, "Library", "Application Support");
  if (platform === "win32") return env.APPDATA || path.join(home, "AppData", "Roaming");
  return path.join(home, ".config");
}
