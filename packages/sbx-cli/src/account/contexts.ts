// Contexts (named defaults in the configuration folder), the `.sbx.json` of the current folder, and variables of the environment.

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { defined, isName, isRecord } from "sandbox-stdio/core";
import type { Context, ContextCommand, Defaults, TokenCommandFrom } from "../args/cli-command.ts";
import type { Environment } from "../base/environment.ts";
import { usage } from "../base/outcome.ts";
import { oneLine, safeJson } from "../base/plain-text.ts";
import { readJsonFile, writeJsonFile } from "../base/small-file.ts";
import { cellText, table } from "../base/table.ts";
import { configDirectory } from "./logins.ts";

type Contexts = { readonly current?: string; readonly contexts: Readonly<Record<string, Context>> };

const FOLDER_FIELDS: readonly string[] = ["server", "sandbox", "session"];
/** Limits of what is quoted from a file that anybody may have written. */
const MAX_SHOWN = 3;
const MAX_FIELD_LENGTH = 40;
const FIELDS = ["server", "sandbox", "session", "tokenCommand"] as const;

/**
 * Defaults from the context, overridden by the folder's file, overridden by the environment.
 * @param chosen The context of --context, which overrides all of them. @throws {CliError}
 */
export function readDefaults(env: Environment, folder: string, chosen?: string): Defaults {
  const { current, contexts } = readContexts(env);
  const name = chosen ?? (env.SBX_CONTEXT || current);
  const context = name === undefined ? {} : Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (context === undefined) throw usage(`no context "${name}"; see sbx-stdio context list`);
  // A token command from the folder's file would run a stranger's code: it is never read.
  const { target: found, unused, words } = readFolderFile(folder, env);
  const given = present({
    server: env.SBX_URL,
    sandbox: env.SBX_SANDBOX,
    session: env.SBX_SESSION,
    tokenCommand: env.SBX_TOKEN_COMMAND,
  });
  const isNamed = given.server !== undefined || (chosen !== undefined && context.server !== undefined);
  const isServerFound = found.server !== undefined && !isNamed && found.server !== context.server;
  const all = { ...context, ...found, ...given, ...(chosen === undefined ? {} : context) };
  for (const field of ["sandbox", "session"] as const) {
    const named = all[field];
    // A name such as ".." would be another path of the server.
    if (named !== undefined && !isName(named))
      throw usage(`invalid ${field} name "${named}" from ${originOf(field, words)}`);
  }
  const tokenCommandFrom = whoSaysCommand(context, given, chosen);
  return {
    ...all,
    folderFile: words,
    ...defined({
      isServerFound: isServerFound || undefined,
      unusedFields: unused.length > 0 ? unused : undefined,
      contextName: name,
      contextServer: context.server,
      tokenCommandFrom,
      tokenOrigin: env.SBX_TOKEN_ORIGIN || undefined,
    }),
  };
}

function whoSaysCommand(context: Context, given: Context, chosen: string | undefined): TokenCommandFrom | undefined {
  if (chosen !== undefined && context.tokenCommand !== undefined) return "--context";
  if (given.tokenCommand !== undefined) return "SBX_TOKEN_COMMAND";
  return context.tokenCommand === undefined ? undefined : "the context";
}

const originOf = (field: string, folderFile: string) => `the context, ${folderFile} or SBX_${field.toUpperCase()}`;

export function contextNames(env: Environment): string[] {
  return Object.keys(readContexts(env).contexts);
}

/** @returns The text to print. @throws {CliError} */
export function runContext({ action }: ContextCommand, env: Environment): string {
  const { current, contexts } = readContexts(env);
  switch (action.do) {
    case "list": {
      if (action.isJson) return `${safeJson(listed(contexts, current), 2)}\n`;
      const rows = Object.entries(contexts).map(([name, { server, sandbox, session }]) => [
        name === current ? "*" : "",
        ...[name, server, sandbox, session].map(cellText),
      ]);
      return table([["", "NAME", "SERVER", "SANDBOX", "SESSION"], ...rows]);
    }
    case "set": {
      const before = Object.hasOwn(contexts, action.name) ? contexts[action.name] : {};
      const context = { ...before, ...present(action.context) };
      writeJsonFile(contextsFile(env), { current: action.name, contexts: { ...contexts, [action.name]: context } });
      return "";
    }
    default: {
      const { [action.name]: _, ...others } = contexts;
      if (!Object.hasOwn(contexts, action.name)) throw usage(`no context "${action.name}"`);
      if (action.do === "use") writeJsonFile(contextsFile(env), { current: action.name, contexts });
      else {
        const rest = current === action.name ? undefined : current;
        writeJsonFile(contextsFile(env), { ...defined({ current: rest }), contexts: others });
      }
      return "";
    }
  }
}

/** Without the token command, which may contain a secret. */
function listed(contexts: Contexts["contexts"], current: string | undefined) {
  const all = Object.entries(contexts).map(([name, { server, sandbox, session, tokenCommand }]) => {
    const target = present({ server, sandbox, session });
    return { name, isCurrent: name === current, ...target, hasTokenCommand: tokenCommand !== undefined };
  });
  return { contexts: all };
}

type FromFolder = { readonly target: Context; readonly unused: readonly string[]; readonly words: string };

function readFolderFile(folder: string, env: Environment): FromFolder {
  const found = findFolderFile(folder, env);
  const file = readJsonFile(found.path) ?? {};
  const { tokenCommand: _, ...target } = contextOf(file);
  const unused = Object.keys(file).filter((key) => !FOLDER_FIELDS.includes(key) || typeof file[key] !== "string");
  return { target, unused, words: found.words };
}

/** @returns A warning about fields of the folder's file that are ignored, probably misspelt. */
export function unknownFieldsWarning({ unusedFields = [], folderFile = "" }: Defaults): string | undefined {
  const shown = unusedFields.slice(0, MAX_SHOWN).map((field) => `"${field.slice(0, MAX_FIELD_LENGTH)}"`);
  if (shown.length === 0) return undefined;
  const more = unusedFields.length > MAX_SHOWN ? " and more" : "";
  return oneLine(`${folderFile}: ignored ${shown.join(", ")}${more}; expected ${FIELD_WORDS}`);
}

const FIELD_WORDS = '"server", "sandbox" and "session" as strings';

function readContexts(env: Environment): Contexts {
  const value = readJsonFile(contextsFile(env));
  if (!isRecord(value?.contexts)) return { contexts: {} };
  const entries = Object.entries(value.contexts).flatMap(([name, one]) =>
    isRecord(one) ? [[name, contextOf(one)] as const] : [],
  );
  const contexts = Object.fromEntries(entries);
  const { current } = value;
  const isKnown = typeof current === "string" && Object.hasOwn(contexts, current);
  return { contexts, ...defined({ current: isKnown ? current : undefined }) };
}

function contextOf(value: Record<string, unknown>): Context {
  return Object.fromEntries(
    FIELDS.flatMap((field) => (typeof value[field] === "string" ? [[field, value[field]]] : [])),
  );
}

/** Without fields that are undefined or empty. */
function present(context: Context): Context {
  return Object.fromEntries(Object.entries(context).filter(([, value]) => value !== undefined && value !== ""));
}

function contextsFile(env: Environment): string {
  return path.join(configDirectory(env), "contexts.json");
}

const NAME = ".sbx.json";

type FolderFile = {
  readonly path: string;
  /** As messages name it. */
  readonly words: string;
};

/** The nearest file. The current folder's may be anybody's, even unreadable; one above it must belong to this user. */
export function findFolderFile(folder: string, env: Environment): FolderFile {
  const own = { path: path.join(folder, NAME), words: `${NAME} in this folder` };
  if (statsOf(own.path) !== undefined) return own;
  for (const above of foldersAbove(folder, env)) {
    const file = path.join(above, NAME);
    if (isOurs(statsOf(file))) return { path: file, words: oneLine(`${NAME} in ${above}`) };
  }
  return own;
}

/** Folders up to the home folder or the repository's root; none if there is neither. */
function foldersAbove(folder: string, env: Environment): readonly string[] {
  const home = realPath(env.HOME || os.homedir());
  const above: string[] = [];
  for (let at = folder; ; at = path.dirname(at)) {
    if (at !== folder) above.push(at);
    if (at === home || statsOf(path.join(at, ".git")) !== undefined) return above;
    if (path.dirname(at) === at) return [];
  }
}

function isOurs(stats: fs.Stats | undefined): boolean {
  return stats !== undefined && (process.getuid === undefined || stats.uid === process.getuid());
}

/** @returns undefined if the file does not exist or is not accessible. */
function statsOf(file: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(file);
  } catch {
    return undefined;
  }
}

/** Without symlinks, as the current folder. */
function realPath(folder: string): string {
  try {
    return fs.realpathSync(folder);
  } catch {
    return folder;
  }
}
