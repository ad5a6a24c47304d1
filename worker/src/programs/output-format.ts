// In which form a program gets output bytes.

export type OutputFormat = "text" | "base64" | "plain";

export function base64Of(bytes: Uint8Array): string {
  const STEP = 0x8000;
  let binaryText = "";
  for (let at = 0; at < bytes.length; at += STEP) binaryText += String.fromCharCode(...bytes.subarray(at, at + STEP));
  return btoa(binaryText);
}
