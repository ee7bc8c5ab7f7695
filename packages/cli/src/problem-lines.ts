/** Writes what goes wrong in a role, a line each, to standard error; without an error where something works again. */
export function problemLines(role: string): (what: string, error: unknown) => void {
  return (what, error) => {
    const why = error === null ? '' : `: ${error instanceof Error ? error.message : String(error)}`
    process.stderr.write(`${role}: ${what}${why}\n`)
  }
}
