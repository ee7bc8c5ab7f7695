/** A function that writes a problem of a role as one line on standard error. An error of null means that it works again. */
export function problemLines(role: string): (what: string, error: unknown) => void {
  return (what, error) => {
    const why = error === null ? '' : `: ${error instanceof Error ? error.message : String(error)}`
    process.stderr.write(`${role}: ${what}${why}\n`)
  }
}
