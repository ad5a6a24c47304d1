// Numbers in texts. Pure.

export const number = new Intl.NumberFormat("en");

const UNITS = ["bytes", "KB", "MB", "GB"];

/** "3.0 MB". */
export function size(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const scaled = bytes / 1000 ** power;
  return `${scaled.toFixed(power > 0 && scaled < 100 ? 1 : 0)} ${UNITS[power]}`;
}

/** "11.5 MB of 60.0 MB, 19 %". */
export const part = (of: number, total: number): string =>
  `${size(of)} of ${size(total)}, ${Math.floor((100 * of) / Math.max(1, total))} %`;

/** "1 line", "2,000 lines". */
export const count = (of: number, one: string, many = `${one}s`): string =>
  `${number.format(of)} ${of === 1 ? one : many}`;
