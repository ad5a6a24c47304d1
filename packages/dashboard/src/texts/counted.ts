// Numbers in texts. Pure.

export const number = new Intl.NumberFormat("en");

const UNITS = ["bytes", "KB", "MB", "GB"];

/** "3.0 MB". */
export const size = (bytes: number): string => sizes(bytes, bytes);

/** "11.5 of 60.0 MB, 19 %". */
export const part = (of: number, total: number): string =>
  `${sizes(total, of, total)}, ${Math.floor((100 * of) / Math.max(1, total))} %`;

/** Parts of a total and the total, in its unit. */
function sizes(total: number, ...all: number[]): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, total)) / 3));
  const unit = 1000 ** power;
  const digits = power > 0 && total < 100 * unit ? 1 : 0;
  return `${all.map((each) => (each / unit).toFixed(digits)).join(" of ")} ${UNITS[power]}`;
}

/** ", 40 s left", ", 3 min left"; "" if it is unknown. */
export const left = (seconds: number | undefined): string => {
  if (seconds === undefined) return "";
  return seconds < 60 ? `, ${Math.ceil(seconds)} s left` : `, ${Math.ceil(seconds / 60)} min left`;
};

/** "1 line", "2,000 lines". */
export const count = (of: number, one: string, many = `${one}s`): string =>
  `${number.format(of)} ${of === 1 ? one : many}`;
