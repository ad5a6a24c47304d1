// The model's part for the agent: it reads the output, and chooses the next action. The stand-in here follows a script; a real one
// would be asked with the same words as its tools.

/** The agent's actions: one of these at a time. */
export type Action =
  | { readonly do: "serve"; readonly command: string; readonly ready: string }
  | { readonly do: "run"; readonly command: string }
  | { readonly do: "ask"; readonly question: string }
  | { readonly do: "type"; readonly line: string; readonly until: string }
  | { readonly do: "finish"; readonly words: string };

/** Takes the last action's outcome, as text. */
export type Model = (seen: string) => Action;

/** Mends a failing test of a small project, and asks a person for what it must not decide. */
export function scriptedModel(): Model {
  const script: readonly ((seen: string) => Action)[] = [
    () => ({ do: "serve", command: "sh server.sh", ready: "listening on (\\d+)" }),
    (seen) => {
      if (!/^ready: \d+/.test(seen)) throw new Error(`The server is not up: ${seen}`);
      return { do: "run", command: "sh test.sh" };
    },
    (seen) => {
      if (!seen.includes("expected 'Hello, world'")) throw new Error(`Another failure than the known one: ${seen}`);
      return { do: "run", command: "sed -i 's/Helo/Hello/' greeting.txt && sh test.sh" };
    },
    (seen) => {
      if (!seen.startsWith("exit 0")) throw new Error(`Not mended: ${seen}`);
      return { do: "type", line: "sh deploy.sh", until: "Deploy to production\\? \\[y/n\\]" };
    },
    () => ({ do: "ask", question: "May this be deployed? Answer the prompt, and release the keyboard." }),
    (seen) => ({ do: "finish", words: seen.includes("deployed") ? "Done, and deployed" : "Done, not deployed" }),
  ];
  let step = 0;
  return (seen) => {
    const next = script[step++];
    if (next === undefined) throw new Error("The script has ended");
    return next(seen);
  };
}
