// Numbers in texts. Pure.

export const number = new Intl.NumberFormat("en");

/** "1 line", "2,000 lines". */
export const count = (of: number, one: string, many = `${one}s`): string =>
  `${number.format(of)} ${of === 1 ? one : many}`;
