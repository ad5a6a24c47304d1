// What a shell says of itself by OSC 633, escaped as VS Code does. Pure.

const MAX_LENGTH = 4_096;

/** The shell's directory (`P;Cwd=…`). */
export function readWorkingDirectory(text: string): string | undefined {
  const path = text.startsWith("P;Cwd=") ? unescaped(text.slice("P;Cwd=".length)) : "";
  return path.startsWith("/") && path.length <= MAX_LENGTH && !path.includes("\0") ? path : undefined;
}

/** The command line that runs next (`E;…`). */
export function readCommandLine(text: string): string | undefined {
  return text.startsWith("E;") && text.length <= MAX_LENGTH ? unescaped(text.slice(2).split(";")[0] ?? "") : undefined;
}

function unescaped(escaped: string): string {
  const bytes: number[] = [];
  const encoder = new TextEncoder();
  for (const [, plain, hex] of escaped.matchAll(/([^\\]+)|\\x([\da-fA-F]{2})|\\\\|\\/g)) {
    bytes.push(
      ...(plain !== undefined ? encoder.encode(plain) : hex !== undefined ? [Number.parseInt(hex, 16)] : [0x5c]),
    );
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
}
