/** Names a day of UTC (seconds since 1970) with day and month in the order of the language. */
export function dayFormat(language: string): (seconds: number) => string {
  const format = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'numeric', timeZone: 'UTC' })
  return seconds => format.format(seconds * 1000)
}
