// The words for people when the machine of their process goes away (X8).

export function stoppingWords(seconds: number): string {
  const left = seconds < 120 ? `${Math.round(seconds)} s` : `${Math.floor(seconds / 60)} min`;
  return `The sandbox stops in ${left}: what still runs then is ended, and nothing new is started in it`;
}
