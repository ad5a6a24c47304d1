// Contexts: servers, sandboxes and sessions by name, in the configuration folder; the file of the current folder; and what
// the environment says. Holds no token.

import path from "node:path";
import { isName, isRecord } from "sandbox-stdio/core";
import type { Context, ContextCommand, Defaults, TokenCommandFrom } from "../args/cli-command.ts";
import type { Environment } from "../base/environment.ts";
import { usage } from "../base/outcome.ts";
import { oneLine, safeJson } from "../base/plain-text.ts";
import { readJsonFile, writeJsonFile } from "../base/small-file.ts";
import { cellText, table } from "../base/table.ts";
import { findFolderFile } from "./folder-file.ts";
import { configDirectory } from "./logins.ts";

type Contexts = { readonly current?: string; readonly contexts: Readonly<Record<string, Context>> };

const FOLDER_FIELDS: readonly string[] = ["server", "sandbox", "session"];
/** Of a file that anybody may have made, so many are repeated. */
const MAX_TOLD = 3;
const MAX_FIELD_LENGTH = 40;
const FIELDS = ["server", "sandbox", "session", "tokenCommand"] as const;

/**
 * The defaults, unless an option says otherwise: the context, then the folder's file, then the environment.
 * @param chosen The context that an option names: that wins over all of them. @throws {CliError}
 */
export function readDefaults(env: Environment, folder: string, chosen?: string): Defaults {
  const { current, contexts } = readContexts(env);
  const name = chosen ?? (env.SBX_CONTEXT || current);
  const context = name === undefined ? {} : Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (context === undefined) throw usage(`there is no context "${name}": see sbx-stdio context list`);
  // A command from a folder that anybody may have made would be run here.
  const { place: found, unused, words } = readFolderFile(folder, env);
  const given = defined({
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
      throw usage(`"${named}" is no name of a ${field}: ${whence(field, words)}`);
  }
  const tokenCommandFrom = whoSaysCommand(context, given, chosen);
  return {
    ...all,
    ...(isServerFound ? { isServerFound } : {}),
    folderFile: words,
    ...(unused.length > 0 ? { unusedFields: unused } : {}),
    ...(name === undefined ? {} : { contextName: name }),
    ...(context.server === undefined ? {} : { contextServer: context.server }),
    ...(tokenCommandFrom === undefined ? {} : { tokenCommandFrom }),
    ...(env.SBX_TOKEN_ORIGIN ? { tokenOrigin: env.SBX_TOKEN_ORIGIN } : {}),
  };
}

function whoSaysCommand(context: Context, given: Context, chosen: string | undefined): TokenCommandFrom | undefined {
  if (chosen !== undefined && context.tokenCommand !== undefined) return "--context";
  if (given.tokenCommand !== undefined) return "SBX_TOKEN_COMMAND";
  return context.tokenCommand === undefined ? undefined : "the context";
}

const whence = (field: string, folderFile: string) =>
  `it stands in a context, in ${folderFile} or in SBX_${field.toUpperCase()}`;

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
      const context = { ...before, ...defined(action.context) };
      writeJsonFile(contextsFile(env), { current: action.name, contexts: { ...contexts, [action.name]: context } });
      return "";
    }
    default: {
      const { [action.name]: _, ...others } = contexts;
      if (!Object.hasOwn(contexts, action.name)) throw usage(`there is no context "${action.name}"`);
      if (action.do === "use") writeJsonFile(contextsFile(env), { current: action.name, contexts });
      else
        writeJsonFile(contextsFile(env), {
          ...(current === undefined || current === action.name ? {} : { current }),
          contexts: others,
        });
      return "";
    }
  }
}

/** Not the line that prints the token: it may hold a secret. */
function listed(contexts: Contexts["contexts"], current: string | undefined) {
  const all = Object.entries(contexts).map(([name, { server, sandbox, session, tokenCommand }]) => {
    const place = defined({ server, sandbox, session });
    return { name, isCurrent: name === current, ...place, hasTokenCommand: tokenCommand !== undefined };
  });
  return { contexts: all };
}

type FromFolder = { readonly place: Context; readonly unused: readonly string[]; readonly words: string };

function readFolderFile(folder: string, env: Environment): FromFolder {
  const found = findFolderFile(folder, env);
  const file = readJsonFile(found.path) ?? {};
  const { tokenCommand: _, ...place } = contextOf(file);
  const unused = Object.keys(file).filter((key) => !FOLDER_FIELDS.includes(key) || typeof file[key] !== "string");
  return { place, unused, words: found.words };
}

/** @returns A line for a person about fields that are most likely misspelt; undefined where there are none. */
export function unusedWords({ unusedFields = [], folderFile = "" }: Defaults): string | undefined {
  const told = unusedFields.slice(0, MAX_TOLD).map((field) => `"${field.slice(0, MAX_FIELD_LENGTH)}"`);
  if (told.length === 0) return undefined;
  const more = unusedFields.length > MAX_TOLD ? " and more" : "";
  return oneLine(`${folderFile}: ${told.join(", ")}${more} means nothing: it takes ${FIELD_WORDS}`);
}

const FIELD_WORDS = '"server", "sandbox" and "session", each a text';

function readContexts(env: Environment): Contexts {
  const value = readJsonFile(contextsFile(env));
  if (!isRecord(value?.contexts)) return { contexts: {} };
  const entries = Object.entries(value.contexts).flatMap(([name, one]) =>
    isRecord(one) ? [[name, contextOf(one)] as const] : [],
  );
  const contexts = Object.fromEntries(entries);
  const { current } = value;
  return { contexts, ...(typeof current === "string" && Object.hasOwn(contexts, current) ? { current } : {}) };
}

function contextOf(value: Record<string, unknown>): Context {
  return Object.fromEntries(
    FIELDS.flatMap((field) => (typeof value[field] === "string" ? [[field, value[field]]] : [])),
  );
}

function defined(context: Context): Context {
  return Object.fromEntries(Object.entries(context).filter(([, value]) => value !== undefined && value !== ""));
}

function contextsFile(env: Environment): string {
  return path.join(configDirectory(env), "contexts.json");
}
